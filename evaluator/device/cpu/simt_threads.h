#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/device/cpu/include/evo_cpu/abi.h"
#include "evaluator/device/cpu/simt_warp.h"
#include "evaluator/device/pattern.h"

namespace evo {

// The threads of the running block with their warps: how far each has come, and which of them runs.
class SimtThreads {
 public:
  enum class State : std::uint8_t { kUnstarted, kRunning, kAtBlockBarrier, kAtWarpBarrier, kAtCopyBarrier, kReleased, kDone };
  struct Thread {
    evo_cpu_thread context{};
    State state = State::kUnstarted;
    int fiber = -1;
  };

  // Makes the threads of a block of this size; their contexts refer to `block`, and have stacks of this size.
  void BeginLaunch(const std::array<unsigned, 3>& size, evo_cpu_block* block, std::size_t stack_bytes);
  // All threads are unstarted, all lanes live.
  void BeginBlock();
  // Overwrites the slots in which lanes hand each other values.
  void Scrub(const DevicePattern& pattern);

  std::size_t size() const { return threads_.size(); }
  Thread& At(int thread) { return threads_[static_cast<std::size_t>(thread)]; }
  SimtWarp& Warp(int warp) { return warps_[static_cast<std::size_t>(warp)]; }
  SimtWarp& WarpOf(int thread) { return warps_[static_cast<unsigned>(thread) / SimtWarp::kLanes]; }
  // How many are in this state.
  unsigned Count(State state) const;

  // The thread that runs, or ran last; -1 before the first.
  int running() const { return running_; }
  Thread& Running() { return At(running_); }
  void SetRunning(int thread) { running_ = thread; }

 private:
  std::vector<Thread> threads_;
  std::vector<SimtWarp> warps_;
  int running_ = -1;
};

}  // namespace evo
