#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "evaluator/device/cpu/include/evo_cpu/abi.h"
#include "evaluator/device/cpu/shadow.h"

namespace evo {

enum class MemorySpace { kGlobal, kShared };

// Two accesses of one address that no barrier orders.
struct Race {
  std::uintptr_t address = 0;
  unsigned earlier = 0;  // thread of the block
  unsigned later = 0;
  bool across_blocks = false;
  bool earlier_wrote = false;
  bool later_writes = false;
};

// Finds accesses of different threads that are not ordered, whether or not they go wrong in this run. Block barriers order the
// threads of a block; warp barriers, shuffles and votes order the lanes that take part; nothing orders blocks. Atomic operations
// do not race with each other. A fence before an atomic operation and any later atomic operation order as well, whatever their
// addresses: more than CUDA promises, so that locks and tickets raise no false alarm. The happens-before test is that of Flanagan
// and Freund, FastTrack, PLDI 2009, with one vector clock for each warp.
class RaceDetector {
 public:
  void BeginLaunch(unsigned threads);
  void BeginBlock();
  // Every thread of the block has arrived or exited.
  void BlockBarrier();
  void WarpBarrier(unsigned warp, unsigned lanes);
  void Fence(unsigned thread);
  // The thread arrives at a barrier in shared memory, or has waited for one. What the thread did before, and what it knows of its
  // warp, is ordered for every warp that waits for any such barrier afterwards: more than CUDA promises.
  void Release(unsigned thread);
  void Acquire(unsigned thread);

  struct Finding {
    std::optional<Race> race;
    // Two threads write the same bytes here, [begin, end): a race unless the bytes stay what they are.
    std::optional<Race> rewrite;
    std::uintptr_t rewrite_end = 0;
  };
  // The access is about to happen and lies inside the shadow's range.
  Finding Access(Shadow& shadow, MemorySpace space, unsigned thread, std::uintptr_t address, std::size_t bytes,
                 evo_cpu_access kind);

  // A plain read of a shared address that is also written atomically in the phase that ends now, where no atomic operation of the
  // reader followed.
  std::optional<Race> Undecided() const;

 private:
  struct Context {
    unsigned thread;
    MemorySpace space;
    Stamp now;
    std::uintptr_t address;  // of the cell
    std::size_t size;
    Finding* finding;
  };
  bool Unordered(Stamp stamp, const Context& context) const;
  bool Report(const Context& context, Stamp earlier, bool earlier_wrote, bool later_writes) const;
  bool Read(ShadowCell& cell, const Context& context);
  bool Write(ShadowCell& cell, const Context& context);
  bool Atomic(ShadowCell& cell, const Context& context);
  void Record(ShadowCell& cell, const Context& context) const;
  Race MakeRace(const Context& context, Stamp earlier, bool earlier_wrote, bool later_writes) const;

  using Clocks = std::array<std::array<std::uint32_t, 32>, 32>;  // [lane][lane]: how far the first lane knows the second
  std::uint32_t epoch_ = 1;                                      // number of the block's phase between two barriers; never reused
  std::uint32_t block_first_ = 1;
  std::uint32_t launch_first_ = 1;
  unsigned threads_ = 0;
  std::vector<Clocks> clocks_;           // of warps
  std::vector<char> fenced_;             // of threads: a fence, and no atomic operation since
  std::vector<std::uint32_t> released_;  // of threads: other threads may see its work up to this clock
  std::vector<std::uint32_t> acquired_;  // of warps: the phase in which one of its lanes last did an atomic operation
  bool launch_released_ = false;
  bool block_acquired_ = false;
  std::vector<Race> undecided_;
};

}  // namespace evo
