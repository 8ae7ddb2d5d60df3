#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "evaluator/device/cpu/include/evo_cpu/abi.h"
#include "evaluator/device/cpu/memory_map.h"
#include "evaluator/device/pattern.h"

namespace evo {

// One launch of a kernel image on this machine's processor.
struct SimtLaunch {
  const evo_cpu_kernel* kernel = nullptr;
  evo_cpu_thread** current = nullptr;  // the image's evo_cpu_current
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::size_t shared_bytes = 0;
  void** arguments = nullptr;
  std::uint64_t schedule = 0;        // 0: natural order; else a permutation of blocks, threads and lanes made from it
  MemoryMap* module_data = nullptr;  // of an image compiled with checked accesses, if they are to be checked
  // Only some of the blocks, chosen by the schedule, as many as begin before `end`; `latest` ends the last of them with a fault.
  // Accesses are checked.
  bool sample = false;
  std::chrono::steady_clock::time_point end{};
  std::chrono::steady_clock::time_point latest{};
};

enum class SimtFault { kNone, kTrap, kDeadlock, kSharedMemory, kWarpMisuse, kOutOfBounds, kRace, kNoRoom, kTime };

struct SimtResult {
  SimtFault fault = SimtFault::kNone;
  std::string message;
  std::uint64_t blocks = 0;  // that ran to their end
};

class SimtBlock;

// Runs CUDA blocks one after another on the calling thread. Each CUDA thread is a fiber that runs until it has to wait at a
// barrier. Static and dynamic shared memory holds the pattern of the last Scrub at each block's start. A checked image may touch
// only its own data, its shared memory and `buffers`, and its threads must not race. After a fault the runtime must not be used
// or destroyed: its fibers hold frames that cannot be unwound, and the process has to end.
class SimtRuntime {
 public:
  // `buffers` must outlive it.
  explicit SimtRuntime(MemoryMap& buffers);
  ~SimtRuntime();
  SimtRuntime(const SimtRuntime&) = delete;
  SimtRuntime& operator=(const SimtRuntime&) = delete;

  // Overwrites what earlier launches have left where a later one could find it.
  void Scrub(const DevicePattern& pattern);
  SimtResult Run(const SimtLaunch& launch);
  // Most static shared memory that a block of the last launch declared.
  std::size_t static_shared_bytes() const;

  // The functions that an image calls as evo_cpu_runtime and evo_cpu_checker. They serve the runtime that last began a launch on
  // the calling thread.
  static const evo_cpu_services* Services();
  static const evo_cpu_checks* Checks();

 private:
  std::unique_ptr<SimtBlock> block_;
};

}  // namespace evo
