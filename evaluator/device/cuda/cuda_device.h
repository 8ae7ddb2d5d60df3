#pragma once

#include <cuda_runtime_api.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "evaluator/compiler/compiler.h"
#include "evaluator/device/cuda/activity_records.h"
#include "evaluator/device/cuda/clock_monitor.h"
#include "evaluator/device/cuda/cuda_memory.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "evaluator/device/device.h"

namespace evo {

class CudaProgram;
class CuptiRecords;
class InspectionKernel;
class RangeProfiler;
class SupportKernels;

enum class CudaUse {
  kTiming,
  kCounting,  // Count may be called and Time must not
  kTool,      // under another tool: CUPTI is not used, neither may be called, and allocations have the exact size
};

struct CudaDeviceOptions {
  int ordinal = 0;
  std::filesystem::path cuda_root;  // for CUPTI
  CudaUse use = CudaUse::kTiming;
};

// One GPU through the CUDA run-time library, timed by CUPTI's activity records. A process has at most one at a time, since CUPTI
// records per process. Throws Error, which says what to do, where there is no such GPU, no driver or no CUPTI. Does not change
// clocks or settings.
class CudaDevice : public Device {
 public:
  // `compiler` is used only in the constructor.
  CudaDevice(const CudaDeviceOptions& options, Compiler& compiler);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }
  const DevicePolicy& policy() const override { return kCudaPolicy; }
  DeviceMemory& memory() override { return *memory_; }
  LoadResult Load(const CompiledProgram& program, std::size_t placements) override;
  DeviceStatus Prepare(const Preparation& preparation) override;
  // `schedule` is ignored, since the hardware orders the blocks.
  DeviceStatus Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) override;
  DeviceStatus Start(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) override;
  TimedRuns Time(LoadedProgram& program, std::span<const TimedRun> runs) override;
  SampledStalls SampleStalls(LoadedProgram& program, const TimedRun& run, int times) override;
  CountedRun Count(LoadedProgram& program, const TimedRun& run) override;
  ClockState Clocks() override { return clocks_->Read(); }
  Inspected Inspect(std::span<const Inspection> inspections) override;
  DeviceStatus BeginInspection(std::span<const Inspection> inspections) override;
  Inspected CollectInspections() override;
  std::vector<Inspection> UnusedMemory() const override;

 private:
  // Memory that is written to push other data out of L2. Holds `value` in its first `flushed` bytes.
  struct Scratch {
    Address address = 0;
    std::size_t bytes = 0;
    std::size_t flushed = 0;
    std::uint8_t value = 0;
  };
  // What CUPTI is used for in this process.
  struct Cupti {
    std::unique_ptr<CuptiRecords> records;    // where it times
    std::unique_ptr<RangeProfiler> profiler;  // where it counts
    std::filesystem::path root;               // likewise, of the toolkit
  };
  DeviceInfo Open(int ordinal);
  double MeasureTick();
  DeviceStatus PrepareLaunches(CudaProgram& program, const Sequence& sequence);
  DeviceStatus PrepareScratch(std::size_t bytes);
  DeviceStatus Fill(const DeviceFill& fill, int run);
  // `program`: the one that will be launched, where it is known.
  DeviceStatus EnqueuePreparation(const Preparation& preparation, const CudaProgram* program);
  DeviceStatus EnqueueScrub(const DevicePattern& pattern, const CudaProgram* program);
  std::size_t LocalBytesToScrub(const CudaProgram& program) const;
  DeviceStatus EnqueueSequence(CudaProgram& program, const Sequence& sequence, int run);
  DeviceStatus Enqueue(CudaProgram& program, std::span<const TimedRun> runs);
  // What comes before a run, and the run, each to its end and without a look at the time.
  struct Steps {
    DeviceStatus status;  // ok, or why the run cannot be made
    std::function<DeviceStatus()> prepare;
    std::function<DeviceStatus()> run;
  };
  Steps UntimedSteps(CudaProgram& program, const TimedRun& run);
  TimedRuns TimeTogether(CudaProgram& program, std::span<const TimedRun> runs);
  DeviceStatus Wait();
  void MarkFormerNames(const CudaProgram& program, std::vector<ActivityRecord>& records) const;
  // Notes what was enqueued, for comparison with CUPTI's records.
  void Expect(ActivityKind kind, const std::string& name, int run) { expected_.push_back({kind, name, run}); }

  DeviceInfo info_;
  int max_warps_per_multiprocessor_ = 64;
  Cupti cupti_;
  std::unique_ptr<ClockMonitor> clocks_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<CudaMemory> memory_;
  std::unique_ptr<SupportKernels> support_;
  std::unique_ptr<InspectionKernel> inspection_;
  std::vector<ExpectedActivity> expected_;
  std::set<std::string> loaded_names_;  // of every kernel of every candidate so far
  Scratch scratch_;
};

}  // namespace evo
