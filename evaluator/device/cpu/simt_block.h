#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/device/cpu/access_checker.h"
#include "evaluator/device/cpu/copy_barriers.h"
#include "evaluator/device/cpu/fiber_pool.h"
#include "evaluator/device/cpu/shared_memory.h"
#include "evaluator/device/cpu/simt_runtime.h"
#include "evaluator/device/cpu/simt_threads.h"

namespace evo {

// Runs the blocks of one launch, one after another. Each thread runs on a fiber until it has to wait. The methods for threads are
// called on the fiber of the running thread; after a fault they do not return.
class SimtBlock {
 public:
  explicit SimtBlock(MemoryMap& buffers) : checker_(shared_, buffers), fibers_([this](int fiber) { RunThreads(fiber); }) {}

  // Overwrites what earlier launches have left in shared memory, on stacks and in the slots of warps. Blocks begin with this
  // pattern in their shared memory. Not during a launch.
  void Scrub(const DevicePattern& pattern);
  // For the scheduler. Block indices in the order in which they run follow from the launch's schedule; of a sample, some of them.
  std::vector<std::uint64_t> BeginLaunch(const SimtLaunch& launch);
  void Run(std::uint64_t block_index);
  const SimtResult& result() const { return result_; }
  const SharedMemory& shared() const { return shared_; }

  // For threads.
  void SyncBlock();
  void SyncWarp(unsigned mask);
  // True for the last lane, which then does the work of all and calls EndCollective; the others return after that.
  bool BeginCollective(unsigned mask);
  void EndCollective(unsigned mask);
  // Barriers in shared memory; see evo_cpu_services.
  void MakeBarrier(const void* barrier, unsigned arrivals);
  void ArriveAt(const void* barrier, unsigned bytes);
  void CompleteCopy(const void* barrier, unsigned bytes);
  void WaitAt(const void* barrier, unsigned parity);
  unsigned LiveLanes() { return threads_.WarpOf(threads_.running()).live(); }
  void* StaticShared(unsigned slot, std::size_t bytes);
  void Access(const void* address, std::size_t bytes, evo_cpu_access kind);
  void Fence() {
    if (checked()) checker_.Fence(static_cast<unsigned>(threads_.running()));
  }
  [[noreturn]] void FaultHere(SimtFault fault, std::string message);

 private:
  using State = SimtThreads::State;
  // The order in which threads start and lanes are released, how far the block has come in it, and the threads that were released
  // since.
  struct Order {
    std::vector<int> threads;
    std::array<unsigned, SimtWarp::kLanes> lanes{};
    std::size_t next_thread = 0;
    std::vector<int> released;  // from `released_head` on
    std::size_t released_head = 0;
    bool HasReleased() const { return released_head < released.size(); }
    void Restart();
    int PopReleased();
  };
  struct BlockBarrier {
    unsigned live = 0;  // threads of the block that have not exited
    unsigned arrived = 0;
  };

  bool checked() const { return launch_.module_data != nullptr; }
  void BeginBlock();
  void RunThreads(int fiber);
  void Enter(int thread);
  void Exit(int thread);
  void Wait(State state);
  void Release(int thread);
  void ReleaseBlockBarrier(int except);
  bool Arrive(unsigned mask, bool collective);
  void Follow(const CopyBarriers::Result& result);
  void Dissolve(int warp, unsigned mask, int except);
  void Require(const std::optional<AccessFault>& fault);
  void Fault(SimtFault fault, std::string message);

  SimtLaunch launch_;
  evo_cpu_block block_{};
  SimtThreads threads_;
  Order order_;
  BlockBarrier barrier_;
  CopyBarriers copy_barriers_;
  std::uint64_t accesses_ = 0;  // checked, in samples
  SimtResult result_;
  SharedMemory shared_;
  AccessChecker checker_;
  FiberPool fibers_;
};

}  // namespace evo
