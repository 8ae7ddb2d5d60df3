#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

// The values of the threads of the group up to this one folded.
template <typename Group, typename T, typename Fold>
inline T inclusive_scan(const Group& group, T value, Fold fold) {
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T left = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = fold(left, value);
  }
  return value;
}
template <typename Group, typename T>
inline T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

// Those before this one; a default value for the first.
template <typename Group, typename T, typename Fold>
inline T exclusive_scan(const Group& group, T value, Fold fold) {
  const T before = group.shfl_up(inclusive_scan(group, value, fold), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
inline T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
