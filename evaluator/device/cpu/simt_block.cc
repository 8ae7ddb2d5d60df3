#include "evaluator/device/cpu/simt_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "core/rng.h"

namespace evo {
namespace {

constexpr int kLanes = static_cast<int>(SimtWarp::kLanes);
// A look at the clock takes as long as a few checked accesses.
constexpr std::uint64_t kAccessesPerLook = 1 << 14;
// More blocks than any sample has time for.
constexpr std::uint64_t kMostSampled = 1 << 16;

template <typename Numbers>
void Shuffle(Numbers& numbers, Rng& rng) {
  for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[rng.Below(i)]);
}

// The order in which a sample runs: both ends of the grid, then pairs of neighbours at random, each block once. Neighbours are
// those that are most likely to write to each other's part.
std::vector<std::uint64_t> SampleBlocks(std::uint64_t all, std::uint64_t seed) {
  std::vector<std::uint64_t> blocks;
  std::unordered_set<std::uint64_t> taken;
  const auto take = [&](std::uint64_t block) {
    if (block < all && taken.insert(block).second) blocks.push_back(block);
  };
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}, all - 1, all - 2}) take(block);
  Rng rng(seed);
  for (std::uint64_t drawn = 0; drawn < std::min(all, kMostSampled); ++drawn) {
    const std::uint64_t block = rng.Below(all);
    take(block);
    take(block + 1);
  }
  if (all <= kMostSampled) {
    for (std::uint64_t block = 0; block < all; ++block) take(block);
  }
  return blocks;
}

SimtFault MeaningOf(AccessFaultKind kind) {
  switch (kind) {
    case AccessFaultKind::kRace:
      return SimtFault::kRace;
    case AccessFaultKind::kNoRoom:
      return SimtFault::kNoRoom;
    default:
      return SimtFault::kOutOfBounds;
  }
}

std::string DeadlockMessage(const evo_cpu_uint3& block, unsigned waiting, std::size_t threads) {
  return fmt::format("deadlock in block ({}, {}, {}): {} of {} threads wait at a barrier that the others never reach", block.x,
                     block.y, block.z, waiting, threads);
}

}  // namespace

void SimtBlock::Order::Restart() {
  next_thread = 0;
  released.clear();
  released_head = 0;
}

int SimtBlock::Order::PopReleased() {
  const int thread = released[released_head++];
  if (HasReleased()) return thread;
  released.clear();
  released_head = 0;
  return thread;
}

void SimtBlock::Scrub(const DevicePattern& pattern) {
  if (result_.fault != SimtFault::kNone) return;  // its threads stand where they were
  shared_.Scrub(pattern);
  fibers_.Scrub(pattern);
  threads_.Scrub(pattern);
}

std::vector<std::uint64_t> SimtBlock::BeginLaunch(const SimtLaunch& launch) {
  launch_ = launch;
  block_.block_dim = {launch.block[0], launch.block[1], launch.block[2]};
  block_.grid_dim = {launch.grid[0], launch.grid[1], launch.grid[2]};
  block_.dynamic_shared = shared_.dynamic();
  shared_.BeginLaunch(launch.shared_bytes, checked());
  threads_.BeginLaunch(launch.block, &block_, FiberPool::kStackBytes);
  const std::size_t count = threads_.size();
  if (checked()) checker_.BeginLaunch(launch.module_data, static_cast<unsigned>(count));
  const std::uint64_t all = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  std::vector<std::uint64_t> blocks;
  if (launch.sample) {
    blocks = SampleBlocks(all, launch.schedule);
  } else {
    blocks.resize(all);
    std::iota(blocks.begin(), blocks.end(), 0);
  }
  order_.threads.resize(count);
  std::iota(order_.threads.begin(), order_.threads.end(), 0);
  std::iota(order_.lanes.begin(), order_.lanes.end(), 0);
  if (launch.schedule != 0) {
    Rng rng(launch.schedule);
    if (!launch.sample) Shuffle(blocks, rng);
    Shuffle(order_.threads, rng);
    Shuffle(order_.lanes, rng);
  }
  return blocks;
}

void SimtBlock::BeginBlock() {
  shared_.Poison();
  if (checked()) checker_.BeginBlock();
  barrier_ = {static_cast<unsigned>(threads_.size()), 0};
  copy_barriers_.Clear();
  order_.Restart();
  threads_.BeginBlock();
}

void SimtBlock::Run(std::uint64_t block_index) {
  const auto& grid = launch_.grid;
  block_.block_index = {static_cast<unsigned>(block_index % grid[0]), static_cast<unsigned>(block_index / grid[0] % grid[1]),
                        static_cast<unsigned>(block_index / grid[0] / grid[1])};
  BeginBlock();
  while (barrier_.live > 0 && result_.fault == SimtFault::kNone) {
    if (order_.HasReleased()) {
      const int thread = order_.PopReleased();
      Enter(thread);
      fibers_.Resume(threads_.At(thread).fiber);
    } else if (order_.next_thread < order_.threads.size()) {
      fibers_.Resume(fibers_.Acquire());
    } else {
      const unsigned waiting = threads_.Count(State::kAtBlockBarrier) + threads_.Count(State::kAtCopyBarrier);
      Fault(SimtFault::kDeadlock, DeadlockMessage(block_.block_index, waiting > 0 ? waiting : barrier_.live, threads_.size()));
    }
  }
  if (!checked()) return;
  if (const auto fault = checker_.BlockBarrier()) Fault(SimtFault::kRace, fault->message);
}

// Starts threads until one was released meanwhile, which then goes first: waiting threads would otherwise hold ever more fibers.
void SimtBlock::RunThreads(int fiber) {
  while (order_.next_thread < order_.threads.size() && result_.fault == SimtFault::kNone) {
    const int thread = order_.threads[order_.next_thread++];
    threads_.At(thread).fiber = fiber;
    Enter(thread);
    launch_.kernel->invoke(launch_.arguments);
    Exit(thread);
    if (order_.HasReleased()) break;
  }
}

void SimtBlock::Enter(int thread) {
  threads_.SetRunning(thread);
  SimtThreads::Thread& entered = threads_.At(thread);
  entered.state = State::kRunning;
  entered.context.stack = fibers_.stack(entered.fiber);
  *launch_.current = &entered.context;
}

void SimtBlock::Exit(int thread) {
  if (checked()) Require(checker_.FinishWarp());
  threads_.At(thread).state = State::kDone;
  --barrier_.live;
  SimtWarp& warp = threads_.WarpOf(thread);
  warp.Exit(threads_.At(thread).context.lane);
  if (barrier_.arrived > 0 && barrier_.arrived == barrier_.live) ReleaseBlockBarrier(-1);
  while (const auto mask = warp.CompleteBarrier()) Dissolve(thread / kLanes, *mask, -1);
}

// The running thread waits until another thread releases it.
void SimtBlock::Wait(State state) {
  if (checked()) Require(checker_.FinishWarp());
  threads_.Running().state = state;
  fibers_.Yield();
}

void SimtBlock::Release(int thread) {
  threads_.At(thread).state = State::kReleased;
  order_.released.push_back(thread);
}

void SimtBlock::ReleaseBlockBarrier(int except) {
  if (checked()) Require(checker_.BlockBarrier());
  barrier_.arrived = 0;
  for (const int thread : order_.threads) {
    if (thread != except && threads_.At(thread).state == State::kAtBlockBarrier) Release(thread);
  }
}

void SimtBlock::SyncBlock() {
  if (++barrier_.arrived == barrier_.live) return ReleaseBlockBarrier(threads_.running());
  Wait(State::kAtBlockBarrier);
}

bool SimtBlock::Arrive(unsigned mask, bool collective) {
  SimtWarp& warp = threads_.WarpOf(threads_.running());
  const unsigned lane = threads_.Running().context.lane;
  if (!(mask & (1u << lane)))
    FaultHere(SimtFault::kWarpMisuse, fmt::format("lane {} calls a warp operation whose mask {:#x} leaves it out", lane, mask));
  if (collective && (mask & ~warp.live()))
    FaultHere(SimtFault::kWarpMisuse, "a warp-wide operation after some of the warp's lanes have exited");
  return warp.Arrive(lane, mask, collective);
}

void SimtBlock::Dissolve(int warp, unsigned mask, int except) {
  const unsigned lanes = threads_.Warp(warp).Dissolve(mask);
  if (checked()) checker_.WarpBarrier(static_cast<unsigned>(warp), lanes);
  for (const unsigned lane : order_.lanes) {
    const int thread = warp * kLanes + static_cast<int>(lane);
    if (((lanes >> lane) & 1) && thread != except) Release(thread);
  }
}

void SimtBlock::SyncWarp(unsigned mask) {
  if (Arrive(mask, false)) return Dissolve(threads_.running() / kLanes, mask, threads_.running());
  Wait(State::kAtWarpBarrier);
}

bool SimtBlock::BeginCollective(unsigned mask) {
  if (Arrive(mask, true)) return true;
  Wait(State::kAtWarpBarrier);
  return false;
}

void SimtBlock::EndCollective(unsigned mask) { Dissolve(threads_.running() / kLanes, mask, threads_.running()); }

void SimtBlock::MakeBarrier(const void* barrier, unsigned arrivals) {
  const auto address = reinterpret_cast<std::uintptr_t>(barrier);
  if (!shared_.Holds(address, sizeof(std::uint64_t))) FaultHere(SimtFault::kTrap, "mbarrier: a barrier outside of shared memory");
  Follow(copy_barriers_.Make(address, arrivals));
}

void SimtBlock::ArriveAt(const void* barrier, unsigned bytes) {
  if (checked()) checker_.Release(static_cast<unsigned>(threads_.running()));
  Follow(copy_barriers_.Arrive(reinterpret_cast<std::uintptr_t>(barrier), bytes));
}

void SimtBlock::CompleteCopy(const void* barrier, unsigned bytes) {
  if (checked()) checker_.Release(static_cast<unsigned>(threads_.running()));
  Follow(copy_barriers_.Complete(reinterpret_cast<std::uintptr_t>(barrier), bytes));
}

void SimtBlock::WaitAt(const void* barrier, unsigned parity) {
  CopyBarriers::Result result;
  if (!copy_barriers_.IsComplete(reinterpret_cast<std::uintptr_t>(barrier), parity, threads_.running(), result))
    Wait(State::kAtCopyBarrier);
  Follow(result);
  if (checked() && result.ended) checker_.Acquire(static_cast<unsigned>(threads_.running()));
}

void SimtBlock::Follow(const CopyBarriers::Result& result) {
  if (!result.fault.empty()) FaultHere(SimtFault::kTrap, result.fault);
  for (const int thread : result.released) Release(thread);
}

void* SimtBlock::StaticShared(unsigned slot, std::size_t bytes) {
  char* place = shared_.Static(slot, bytes);
  if (place == nullptr)
    FaultHere(SimtFault::kSharedMemory,
              fmt::format("{} bytes of static shared memory, more than a block may have", shared_.Declared()));
  return place;
}

void SimtBlock::Access(const void* address, std::size_t bytes, evo_cpu_access kind) {
  if (!checked()) return;
  if (launch_.sample && ++accesses_ % kAccessesPerLook == 0 && std::chrono::steady_clock::now() > launch_.latest)
    FaultHere(SimtFault::kTime, "one block took too long with every access checked");
  Require(checker_.Access(static_cast<unsigned>(threads_.running()), reinterpret_cast<std::uintptr_t>(address), bytes, kind));
}

// Ends the kernel if there is a fault.
void SimtBlock::Require(const std::optional<AccessFault>& fault) {
  if (!fault) return;
  const evo_cpu_uint3& thread = threads_.Running().context.thread_index;
  const evo_cpu_uint3& block = block_.block_index;
  FaultHere(MeaningOf(fault->kind), fmt::format("thread ({}, {}, {}) of block ({}, {}, {}): {}", thread.x, thread.y, thread.z,
                                                block.x, block.y, block.z, fault->message));
}

void SimtBlock::Fault(SimtFault fault, std::string message) {
  if (result_.fault == SimtFault::kNone) result_ = {fault, std::move(message)};
}

void SimtBlock::FaultHere(SimtFault fault, std::string message) {
  Fault(fault, std::move(message));
  for (;;) fibers_.Yield();
}

}  // namespace evo
