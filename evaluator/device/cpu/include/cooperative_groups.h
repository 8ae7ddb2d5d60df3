#pragma once

// cooperative_groups on the cpu device: blocks, tiles of at most a warp, and the threads of a warp that are together. Groups of
// several blocks need a cooperative launch, which this device lacks.

namespace cooperative_groups {

// Of a block: its threads, all of them.
class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static dim3 dim_threads() { return group_dim(); }
};

inline thread_block this_thread_block() { return {}; }

// Lanes of one warp, in ascending order.
class evo_cpu_lanes {
 public:
  explicit evo_cpu_lanes(unsigned mask) : mask_(mask) {}

  unsigned evo_cpu_mask() const { return mask_; }
  void sync() const { __syncwarp(mask_); }
  unsigned thread_rank() const { return __popc(mask_ & ((1u << evo_cpu_current->lane) - 1)); }
  unsigned num_threads() const { return __popc(mask_); }
  unsigned size() const { return num_threads(); }
  int any(int predicate) const { return ballot(predicate) != 0; }
  int all(int predicate) const { return ballot(predicate) == evo_cpu_all(); }
  unsigned ballot(int predicate) const {
    const unsigned of_warp = __ballot_sync(mask_, predicate);
    unsigned result = 0;
    unsigned rank = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask_ >> lane) & 1) result |= ((of_warp >> lane) & 1) << rank++;
    }
    return result;
  }
  template <typename T>
  T shfl(T value, unsigned rank) const {
    return evo_cpu::Exchange(mask_, value, evo_cpu_lane(rank % size()));
  }
  template <typename T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return evo_cpu::Exchange(mask_, value, evo_cpu_lane(rank < delta ? rank : rank - delta));
  }
  template <typename T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return evo_cpu::Exchange(mask_, value, evo_cpu_lane(rank + delta < size() ? rank + delta : rank));
  }

 protected:
  unsigned evo_cpu_all() const { return size() == 32 ? 0xffffffffu : (1u << size()) - 1; }
  // The lane of a rank.
  unsigned evo_cpu_lane(unsigned rank) const {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (((mask_ >> lane) & 1) && rank-- == 0) return lane;
    }
    return evo_cpu_current->lane;
  }

 private:
  unsigned mask_;
};

using coalesced_group = evo_cpu_lanes;
inline coalesced_group coalesced_threads() { return evo_cpu_lanes(__activemask()); }

template <unsigned Size, typename Parent = void>
class thread_block_tile : public evo_cpu_lanes {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0, "not supported on the cpu device: tiles of more than a warp");

 public:
  // The one of this thread.
  thread_block_tile()
      : evo_cpu_lanes((Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1) << (evo_cpu_current->lane / Size * Size)) {}
  template <typename Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}

  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return evo_cpu_current->lane % Size; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
  template <typename T>
  T shfl_xor(T value, unsigned mask) const {
    return evo_cpu::Exchange(evo_cpu_mask(), value, evo_cpu_lane((thread_rank() ^ mask) % Size));
  }
};

// A block or some lanes of a warp, whichever it was made of.
class thread_group {
 public:
  thread_group(const thread_block&) : lanes_(0), block_(true) {}
  thread_group(const evo_cpu_lanes& lanes) : lanes_(lanes) {}

  void sync() const { block_ ? thread_block::sync() : lanes_.sync(); }
  unsigned thread_rank() const { return block_ ? thread_block::thread_rank() : lanes_.thread_rank(); }
  unsigned num_threads() const { return block_ ? thread_block::num_threads() : lanes_.num_threads(); }
  unsigned size() const { return num_threads(); }

 private:
  evo_cpu_lanes lanes_;
  bool block_ = false;
};

template <unsigned Size, typename Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

template <typename Group>
inline void sync(const Group& group) {
  group.sync();
}
template <typename Group>
inline unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
inline unsigned group_size(const Group& group) {
  return group.size();
}

template <bool Supported = false>
inline thread_block this_grid() {
  static_assert(Supported, "not supported on the cpu device: groups of several blocks");
  return {};
}

}  // namespace cooperative_groups
