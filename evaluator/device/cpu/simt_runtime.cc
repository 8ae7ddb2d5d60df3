#include "evaluator/device/cpu/simt_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "evaluator/device/cpu/access_checker.h"
#include "evaluator/device/cpu/shared_memory.h"

namespace evo {
namespace {

namespace ctx = boost::context;

constexpr unsigned kWarp = 32;
// Kernels keep accumulators and small arrays on the stack; a page of guard below turns an overflow into a crash.
constexpr std::size_t kStackBytes = 256 * 1024;

enum class ThreadState : std::uint8_t { kUnstarted, kRunning, kAtBlockBarrier, kAtWarpBarrier, kReleased, kDone };

struct SimtThread {
  evo_cpu_thread context{};
  ThreadState state = ThreadState::kUnstarted;
  int fiber = -1;
};

// Lanes that wait for each other under one mask.
struct WarpBarrier {
  unsigned mask;
  unsigned arrived;
  bool collective;  // waits for the last lane's work, not only for its arrival
};

struct Warp {
  unsigned live = 0;
  std::vector<WarpBarrier> barriers;
  alignas(16) std::array<char, kWarp * evo_cpu_warp_slot_bytes> exchange;
};

template <typename Numbers>
void Shuffle(Numbers& numbers, Rng& rng) {
  for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[rng.Below(i)]);
}

struct Fiber {
  ctx::fiber context;
  const void* stack = nullptr;  // lowest address
  int thread = -1;              // that runs or waits on it; -1: free
};

}  // namespace

struct SimtRuntime::State {
  SimtLaunch launch;
  evo_cpu_block block{};
  std::vector<SimtThread> threads;
  std::vector<Warp> warps;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<int> free_fibers;
  std::vector<int> order;  // threads, in the order they start
  std::size_t next_unstarted = 0;
  std::vector<int> released;  // a queue: from released_head on
  std::size_t released_head = 0;
  unsigned at_block_barrier = 0;
  unsigned live = 0;
  int running = -1;
  ctx::fiber scheduler;
  SimtResult result;

  SharedMemory shared;
  AccessChecker checker;
  std::array<unsigned, kWarp> lane_order{};

  static thread_local State* active;

  explicit State(MemoryMap& buffers) : checker(shared, buffers) {}

  bool checked() const { return launch.module_data != nullptr; }
  Warp& WarpOf(int thread) { return warps[static_cast<unsigned>(thread) / kWarp]; }

  void Prepare(unsigned count) {
    threads.resize(count);
    warps.resize((count + kWarp - 1) / kWarp);
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    unsigned t = 0;
    for (unsigned z = 0; z < launch.block[2]; ++z) {
      for (unsigned y = 0; y < launch.block[1]; ++y) {
        for (unsigned x = 0; x < launch.block[0]; ++x, ++t)
          threads[t].context = {{x, y, z}, t % kWarp, warps[t / kWarp].exchange.data(), &block, nullptr, kStackBytes};
      }
    }
  }

  void RunBlock() {
    shared.Poison();
    if (checked()) checker.BeginBlock();
    live = static_cast<unsigned>(threads.size());
    at_block_barrier = 0;
    next_unstarted = 0;
    released.clear();
    released_head = 0;
    for (std::size_t t = 0; t < threads.size(); ++t) threads[t].state = ThreadState::kUnstarted;
    for (std::size_t w = 0; w < warps.size(); ++w) {
      const auto lanes = static_cast<unsigned>(std::min<std::size_t>(kWarp, threads.size() - w * kWarp));
      warps[w].live = lanes == kWarp ? ~0u : (1u << lanes) - 1;
      warps[w].barriers.clear();
    }
    while (live > 0 && result.fault == SimtFault::kNone) {
      if (released_head < released.size()) {
        const int thread = released[released_head++];
        if (released_head == released.size()) {
          released.clear();
          released_head = 0;
        }
        SwitchTo(threads[static_cast<std::size_t>(thread)].fiber, thread);
      } else if (next_unstarted < order.size()) {
        SwitchTo(FreeFiber(), -1);
      } else {
        Fault(SimtFault::kDeadlock, DescribeDeadlock());
      }
    }
    if (!checked()) return;
    if (const auto fault = checker.BlockBarrier()) Fault(SimtFault::kRace, fault->message);
  }

  std::string DescribeDeadlock() const {
    const auto waiting = std::count_if(threads.begin(), threads.end(),
                                       [](const SimtThread& t) { return t.state == ThreadState::kAtBlockBarrier; });
    return fmt::format("deadlock in block ({}, {}, {}): {} of {} threads wait at a barrier that the others never reach",
                       block.block_index.x, block.block_index.y, block.block_index.z,
                       waiting > 0 ? waiting : static_cast<std::ptrdiff_t>(live), threads.size());
  }

  int FreeFiber() {
    if (free_fibers.empty()) {
      const int index = static_cast<int>(fibers.size());
      fibers.push_back(std::make_unique<Fiber>());
      ctx::protected_fixedsize_stack allocator(kStackBytes);
      const ctx::stack_context stack = allocator.allocate();
      fibers.back()->stack = static_cast<const char*>(stack.sp) - kStackBytes;
      fibers.back()->context = ctx::fiber(std::allocator_arg, ctx::preallocated(stack.sp, stack.size, stack), allocator,
                                          [this, index](ctx::fiber&& caller) { return FiberBody(index, std::move(caller)); });
      return index;
    }
    const int index = free_fibers.back();
    free_fibers.pop_back();
    return index;
  }

  // Runs threads that have not started until there are none, again and again.
  ctx::fiber FiberBody(int index, ctx::fiber&& caller) {
    scheduler = std::move(caller);
    for (;;) {
      while (next_unstarted < order.size() && result.fault == SimtFault::kNone) {
        const int thread = order[next_unstarted++];
        threads[static_cast<std::size_t>(thread)].fiber = index;
        Enter(thread);
        launch.kernel->invoke(launch.arguments);
        Exit(thread);
        // Threads that were waiting for this one go first: their fibers would otherwise pile up.
        if (released_head < released.size()) break;
      }
      free_fibers.push_back(index);
      scheduler = std::move(scheduler).resume();
    }
  }

  void SwitchTo(int fiber, int thread) {
    if (thread >= 0) Enter(thread);
    Fiber& f = *fibers[static_cast<std::size_t>(fiber)];
    f.context = std::move(f.context).resume();
  }

  void Enter(int thread) {
    running = thread;
    SimtThread& t = threads[static_cast<std::size_t>(thread)];
    t.state = ThreadState::kRunning;
    t.context.stack = fibers[static_cast<std::size_t>(t.fiber)]->stack;
    *launch.current = &t.context;
  }

  // Leaves the running thread where it is until somebody releases it.
  void Wait(ThreadState state) {
    if (checked()) Require(checker.FinishWarp());
    threads[static_cast<std::size_t>(running)].state = state;
    scheduler = std::move(scheduler).resume();
  }

  void Release(int thread) {
    threads[static_cast<std::size_t>(thread)].state = ThreadState::kReleased;
    released.push_back(thread);
  }

  void ReleaseBlockBarrier(int except) {
    if (checked()) Require(checker.BlockBarrier());
    at_block_barrier = 0;
    for (const int t : order) {
      if (t != except && threads[static_cast<std::size_t>(t)].state == ThreadState::kAtBlockBarrier) Release(t);
    }
  }

  void SyncBlock() {
    if (++at_block_barrier == live) return ReleaseBlockBarrier(running);
    Wait(ThreadState::kAtBlockBarrier);
  }

  void ReleaseLanes(int warp, unsigned lanes, int except) {
    for (const unsigned lane : lane_order) {
      const int thread = warp * static_cast<int>(kWarp) + static_cast<int>(lane);
      if (((lanes >> lane) & 1) && thread != except) Release(thread);
    }
  }

  // True for the last lane to arrive, with the barrier still standing.
  bool Arrive(unsigned mask, bool collective) {
    Warp& warp = WarpOf(running);
    const unsigned bit = 1u << threads[static_cast<std::size_t>(running)].context.lane;
    if (!(mask & bit))
      return FaultHere(SimtFault::kWarpMisuse, fmt::format("lane {} calls a warp operation whose mask {:#x} leaves it out",
                                                           threads[static_cast<std::size_t>(running)].context.lane, mask));
    if (collective && (mask & ~warp.live))
      return FaultHere(SimtFault::kWarpMisuse, "a warp-wide operation after some of the warp's lanes have exited");
    auto barrier = std::find_if(warp.barriers.begin(), warp.barriers.end(), [&](const WarpBarrier& b) { return b.mask == mask; });
    if (barrier == warp.barriers.end()) barrier = warp.barriers.insert(warp.barriers.end(), {mask, 0, collective});
    barrier->arrived |= bit;
    return (barrier->arrived & warp.live) == (mask & warp.live);
  }

  void Dissolve(int warp_index, unsigned mask, int except) {
    Warp& warp = warps[static_cast<std::size_t>(warp_index)];
    const auto barrier =
        std::find_if(warp.barriers.begin(), warp.barriers.end(), [&](const WarpBarrier& b) { return b.mask == mask; });
    const unsigned lanes = barrier->arrived;
    warp.barriers.erase(barrier);
    if (checked()) checker.WarpBarrier(static_cast<unsigned>(warp_index), lanes);
    ReleaseLanes(warp_index, lanes, except);
  }

  void SyncWarp(unsigned mask) {
    if (Arrive(mask, false)) return Dissolve(running / static_cast<int>(kWarp), mask, running);
    Wait(ThreadState::kAtWarpBarrier);
  }

  void Exit(int thread) {
    if (checked()) Require(checker.FinishWarp());
    threads[static_cast<std::size_t>(thread)].state = ThreadState::kDone;
    --live;
    Warp& warp = WarpOf(thread);
    warp.live &= ~(1u << threads[static_cast<std::size_t>(thread)].context.lane);
    if (at_block_barrier > 0 && at_block_barrier == live) ReleaseBlockBarrier(-1);
    for (std::size_t i = 0; i < warp.barriers.size();) {
      const WarpBarrier barrier = warp.barriers[i];
      if (barrier.collective || (barrier.arrived & warp.live) != (barrier.mask & warp.live))
        ++i;
      else
        Dissolve(thread / static_cast<int>(kWarp), barrier.mask, -1);
    }
  }

  void* StaticShared(unsigned slot, std::size_t bytes) {
    char* place = shared.Static(slot, bytes);
    if (place == nullptr)
      FaultHere(SimtFault::kSharedMemory,
                fmt::format("{} bytes of static shared memory, more than a block may have", shared.Declared()));
    return place;
  }

  void Access(const void* address, std::size_t bytes, evo_cpu_access kind) {
    Require(checker.Access(static_cast<unsigned>(running), reinterpret_cast<std::uintptr_t>(address), bytes, kind));
  }

  // Ends the kernel if there is a fault.
  void Require(const std::optional<AccessFault>& fault) {
    if (!fault) return;
    const bool race = fault->kind == AccessFaultKind::kRace;
    FaultHere(race                                      ? SimtFault::kRace
              : fault->kind == AccessFaultKind::kNoRoom ? SimtFault::kNoRoom
                                                        : SimtFault::kOutOfBounds,
              Place() + fault->message);
  }

  std::string Place() const {
    const evo_cpu_uint3& t = threads[static_cast<std::size_t>(running)].context.thread_index;
    const evo_cpu_uint3& b = block.block_index;
    return fmt::format("thread ({}, {}, {}) of block ({}, {}, {}): ", t.x, t.y, t.z, b.x, b.y, b.z);
  }

  void Fault(SimtFault fault, std::string message) {
    if (result.fault == SimtFault::kNone) result = {fault, std::move(message)};
  }

  // Called on a fiber: never returns.
  bool FaultHere(SimtFault fault, std::string message) {
    Fault(fault, std::move(message));
    for (;;) scheduler = std::move(scheduler).resume();
  }
};

thread_local SimtRuntime::State* SimtRuntime::State::active = nullptr;

SimtRuntime::SimtRuntime(MemoryMap& buffers) : state_(std::make_unique<State>(buffers)) {}

SimtRuntime::~SimtRuntime() {
  if (state_->result.fault != SimtFault::kNone) static_cast<void>(state_.release());  // see the class comment
}

std::size_t SimtRuntime::static_shared_bytes() const { return state_->shared.Granted(); }

SimtResult SimtRuntime::Run(const SimtLaunch& launch) {
  State& s = *state_;
  State::active = &s;
  s.launch = launch;
  s.block.block_dim = {launch.block[0], launch.block[1], launch.block[2]};
  s.block.grid_dim = {launch.grid[0], launch.grid[1], launch.grid[2]};
  s.block.dynamic_shared = s.shared.dynamic();
  s.shared.BeginLaunch(launch.shared_bytes, s.checked());
  s.Prepare(launch.block[0] * launch.block[1] * launch.block[2]);
  if (s.checked()) s.checker.BeginLaunch(launch.module_data, static_cast<unsigned>(s.threads.size()));
  std::vector<std::uint64_t> blocks(static_cast<std::size_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2]);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::iota(s.lane_order.begin(), s.lane_order.end(), 0);
  if (launch.schedule != 0) {
    Rng rng(launch.schedule);
    Shuffle(blocks, rng);
    Shuffle(s.order, rng);
    Shuffle(s.lane_order, rng);
  }
  for (const std::uint64_t b : blocks) {
    s.block.block_index = {static_cast<unsigned>(b % launch.grid[0]), static_cast<unsigned>(b / launch.grid[0] % launch.grid[1]),
                           static_cast<unsigned>(b / launch.grid[0] / launch.grid[1])};
    s.RunBlock();
    if (s.result.fault != SimtFault::kNone) return s.result;
  }
  return {};
}

const evo_cpu_services* SimtRuntime::Services() {
  static const evo_cpu_services services = {
      [] { State::active->SyncBlock(); },
      [](unsigned mask) { State::active->SyncWarp(mask); },
      [](unsigned mask) -> int {
        if (State::active->Arrive(mask, true)) return 1;
        State::active->Wait(ThreadState::kAtWarpBarrier);
        return 0;
      },
      [](unsigned mask) {
        State::active->Dissolve(State::active->running / static_cast<int>(kWarp), mask, State::active->running);
      },
      []() -> unsigned { return State::active->WarpOf(State::active->running).live; },
      [](unsigned slot, std::size_t bytes, std::size_t) { return State::active->StaticShared(slot, bytes); },
      [](const char* reason) { State::active->FaultHere(SimtFault::kTrap, reason); },
  };
  return &services;
}

const evo_cpu_checks* SimtRuntime::Checks() {
  static const evo_cpu_checks checks = {
      [](const void* address, std::size_t bytes, evo_cpu_access kind) { State::active->Access(address, bytes, kind); },
      [] { State::active->checker.Fence(static_cast<unsigned>(State::active->running)); },
  };
  return &checks;
}

}  // namespace evo
