#pragma once

// Warp-wide operations. Lanes meet at the mask's barrier, twice: once when all values are posted, once when all have been read.

namespace evo_cpu {

inline char* WarpSlot(unsigned lane) {
  return static_cast<char*>(evo_cpu_current->warp_exchange) + lane * evo_cpu_warp_slot_bytes;
}

// Posts a value and reads the one of lane `source`, which must be in the mask.
template <typename T>
T Exchange(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= evo_cpu_warp_slot_bytes);
  std::memcpy(WarpSlot(evo_cpu_current->lane), &value, sizeof value);
  evo_cpu_runtime->sync_warp(mask);
  T got;
  std::memcpy(&got, WarpSlot(source & 31), sizeof got);
  evo_cpu_runtime->sync_warp(mask);
  return got;
}

// Folds the values of all live lanes of the mask.
template <typename T, typename Fold>
T Reduce(unsigned mask, T value, Fold fold) {
  std::memcpy(WarpSlot(evo_cpu_current->lane), &value, sizeof value);
  evo_cpu_runtime->sync_warp(mask);
  mask &= evo_cpu_runtime->live_lanes();
  T result{};
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!((mask >> lane) & 1)) continue;
    T other;
    std::memcpy(&other, WarpSlot(lane), sizeof other);
    result = first ? other : fold(result, other);
    first = false;
  }
  evo_cpu_runtime->sync_warp(mask);
  return result;
}

}  // namespace evo_cpu

inline void __syncwarp(unsigned mask = 0xffffffffu) { evo_cpu_runtime->sync_warp(mask); }
inline unsigned __activemask() { return evo_cpu_runtime->live_lanes(); }

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned base = evo_cpu_current->lane & ~static_cast<unsigned>(width - 1);
  return evo_cpu::Exchange(mask, value, base + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)));
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const unsigned lane = evo_cpu_current->lane;
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  const bool inside = (source & ~static_cast<unsigned>(width - 1)) <= (lane & ~static_cast<unsigned>(width - 1)) && source < 32;
  return evo_cpu::Exchange(mask, value, inside ? source : lane);
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = evo_cpu_current->lane;
  const bool inside = (lane & static_cast<unsigned>(width - 1)) + delta < static_cast<unsigned>(width);
  return evo_cpu::Exchange(mask, value, inside ? lane + delta : lane);
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = evo_cpu_current->lane;
  const bool inside = (lane & static_cast<unsigned>(width - 1)) >= delta;
  return evo_cpu::Exchange(mask, value, inside ? lane - delta : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned bit = predicate ? 1u << evo_cpu_current->lane : 0u;
  return evo_cpu::Reduce(mask, bit, [](unsigned a, unsigned b) { return a | b; });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
inline int __uni_sync(unsigned mask, int predicate) { return __all_sync(mask, predicate) || __all_sync(mask, !predicate); }
template <typename T>
inline T __reduce_add_sync(unsigned mask, T v) {
  return evo_cpu::Reduce(mask, v, [](T a, T b) { return a + b; });
}
template <typename T>
inline T __reduce_min_sync(unsigned mask, T v) {
  return evo_cpu::Reduce(mask, v, [](T a, T b) { return a < b ? a : b; });
}
template <typename T>
inline T __reduce_max_sync(unsigned mask, T v) {
  return evo_cpu::Reduce(mask, v, [](T a, T b) { return a < b ? b : a; });
}
template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value) {
  unsigned matching = 0;
  std::memcpy(evo_cpu::WarpSlot(evo_cpu_current->lane), &value, sizeof value);
  evo_cpu_runtime->sync_warp(mask);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1) && std::memcmp(evo_cpu::WarpSlot(lane), &value, sizeof value) == 0) matching |= 1u << lane;
  }
  evo_cpu_runtime->sync_warp(mask);
  return matching;
}

// Block votes: a barrier with a sum. The counter lives in the block's static shared memory, in slots no rewritten declaration
// has.
namespace evo_cpu {
EVO_CPU_UNCHECKED inline int BlockCount(int predicate) {
  int& count = StaticShared<int>(0xffffu);
  __syncthreads();
  count = 0;
  __syncthreads();
  count += predicate != 0;
  __syncthreads();
  const int total = count;
  __syncthreads();
  return total;
}
}  // namespace evo_cpu
inline int __syncthreads_count(int predicate) { return evo_cpu::BlockCount(predicate); }
inline int __syncthreads_or(int predicate) { return evo_cpu::BlockCount(predicate) != 0; }
inline int __syncthreads_and(int predicate) { return evo_cpu::BlockCount(!predicate) == 0; }
