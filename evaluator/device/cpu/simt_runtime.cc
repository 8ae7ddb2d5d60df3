#include "evaluator/device/cpu/simt_runtime.h"

#include "evaluator/device/cpu/simt_block.h"

namespace evo {
namespace {

// What a kernel's calls from this thread of the process go to.
thread_local SimtBlock* active = nullptr;

// Both ends of the grid run whatever the time.
constexpr std::uint64_t kFewestSampled = 4;

}  // namespace

SimtRuntime::SimtRuntime(MemoryMap& buffers) : block_(std::make_unique<SimtBlock>(buffers)) {}

SimtRuntime::~SimtRuntime() {
  if (block_->result().fault != SimtFault::kNone) static_cast<void>(block_.release());  // see the class comment
}

std::size_t SimtRuntime::static_shared_bytes() const { return block_->shared().Granted(); }

void SimtRuntime::Scrub(const DevicePattern& pattern) { block_->Scrub(pattern); }

SimtResult SimtRuntime::Run(const SimtLaunch& launch) {
  active = block_.get();
  std::uint64_t blocks = 0;
  for (const std::uint64_t index : block_->BeginLaunch(launch)) {
    if (launch.sample && blocks >= kFewestSampled && std::chrono::steady_clock::now() > launch.end) break;
    block_->Run(index);
    if (block_->result().fault != SimtFault::kNone) return block_->result();
    ++blocks;
  }
  return {SimtFault::kNone, "", blocks};
}

const evo_cpu_services* SimtRuntime::Services() {
  static const evo_cpu_services services = {
      [] { active->SyncBlock(); },
      [](unsigned mask) { active->SyncWarp(mask); },
      [](unsigned mask) -> int { return active->BeginCollective(mask) ? 1 : 0; },
      [](unsigned mask) { active->EndCollective(mask); },
      []() -> unsigned { return active->LiveLanes(); },
      [](unsigned slot, std::size_t bytes, std::size_t) { return active->StaticShared(slot, bytes); },
      [](const void* barrier, unsigned arrivals) { active->MakeBarrier(barrier, arrivals); },
      [](const void* barrier, unsigned bytes) { active->ArriveAt(barrier, bytes); },
      [](const void* barrier, unsigned bytes) { active->CompleteCopy(barrier, bytes); },
      [](const void* barrier, unsigned parity) { active->WaitAt(barrier, parity); },
      [](const char* reason) { active->FaultHere(SimtFault::kTrap, reason); },
  };
  return &services;
}

const evo_cpu_checks* SimtRuntime::Checks() {
  static const evo_cpu_checks checks = {
      [](const void* address, std::size_t bytes, evo_cpu_access kind) { active->Access(address, bytes, kind); },
      [] { active->Fence(); },
  };
  return &checks;
}

}  // namespace evo
