#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// The values of all threads of the group folded, the same in each of them.
template <typename Group, typename T, typename Fold>
inline T reduce(const Group& group, T value, Fold fold) {
  return evo_cpu::Reduce(group.evo_cpu_mask(), value, fold);
}

}  // namespace cooperative_groups
