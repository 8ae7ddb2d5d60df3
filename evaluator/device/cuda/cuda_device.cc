#include "evaluator/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/cuda_program.h"
#include "evaluator/device/cuda/cupti_records.h"
#include "evaluator/device/cuda/inspection_kernel.h"
#include "evaluator/device/cuda/range_profiler.h"
#include "evaluator/device/cuda/stall_sampler.h"
#include "evaluator/device/cuda/support_kernels.h"

namespace evo {
namespace {

// The driver queues 1,024 launches or more before a launch blocks; this many are safe behind a hold.
constexpr std::size_t kMostTogether = 400;
// Kernels of different durations, from which the step of the clock follows; one of their steps takes 2.5 ns.
constexpr std::uint32_t kTickSamples = 64;
// The kernels are short, since the error of the clock's conversion grows with the duration and must stay below a nanosecond.
constexpr std::uint32_t kTickSteps = 21;
// Clocks change within tenths of a second, and asking for them takes as long as timing a kernel.
constexpr std::chrono::milliseconds kClocksAge{200};

std::size_t OperationCount(const TimedRun& run) {
  const Preparation& preparation = run.preparation;
  constexpr std::size_t kScrubsFlushAndDisplace = 4;
  return preparation.restore.size() + preparation.poison.size() + preparation.touch.size() + kScrubsFlushAndDisplace +
         run.sequence.size();
}

}  // namespace

CudaDevice::CudaDevice(const CudaDeviceOptions& options, Compiler& compiler) {
  const CudaDevices found = ListCudaDevices();
  if (!found.why_none.empty()) throw Error(found.why_none);
  if (options.ordinal < 0 || static_cast<std::size_t>(options.ordinal) >= found.devices.size()) {
    throw Error(fmt::format("cuda:{}: there are {} GPUs, counted from 0; choose another --device", options.ordinal,
                            found.devices.size()));
  }
  // CUPTI is opened before the context, because it misses everything set up before it.
  if (options.use == CudaUse::kTiming) cupti_.records = std::make_unique<CuptiRecords>(options.cuda_root);
  info_ = Open(options.ordinal);
  info_.driver = found.driver;
  clocks_ = std::make_unique<ClockMonitor>(options.ordinal);
  Require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  memory_ = std::make_unique<CudaMemory>(stream_, options.use == CudaUse::kTool);
  support_ = std::make_unique<SupportKernels>(info_, max_warps_per_multiprocessor_, compiler, stream_);
  memory_->Use(*support_);
  inspection_ = std::make_unique<InspectionKernel>(info_, compiler, stream_);
  if (options.use == CudaUse::kTiming) info_.tick_ns = MeasureTick();
  if (options.use == CudaUse::kCounting) {
    cupti_.root = options.cuda_root;
    cupti_.profiler = std::make_unique<RangeProfiler>(options.cuda_root, options.ordinal);
  }
}

CudaDevice::~CudaDevice() {
  cupti_.profiler.reset();
  if (support_ != nullptr) support_->Release();
  if (scratch_.address != 0) memory_->Free(scratch_.address);
  support_.reset();
  inspection_.reset();
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

DeviceInfo CudaDevice::Open(int ordinal) {
  Require(cudaSetDevice(ordinal), "cudaSetDevice");
  cudaDeviceProp properties;
  Require(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  max_warps_per_multiprocessor_ = properties.maxThreadsPerMultiProcessor / properties.warpSize;
  DeviceInfo info;
  info.kind = kCudaPolicy.kind;
  info.name = properties.name;
  info.arch = ArchName(properties.major, properties.minor);
  info.ordinal = ordinal;
  info.memory_bytes = properties.totalGlobalMem;
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.shared_bytes_per_block = properties.sharedMemPerBlock;
  info.shared_bytes_per_block_optin = properties.sharedMemPerBlockOptin;
  info.max_threads_per_block = properties.maxThreadsPerBlock;
  info.multiprocessors = properties.multiProcessorCount;
  info.uuid = UuidText(properties.uuid);
  return info;
}

double CudaDevice::MeasureTick() {
  cupti_.records->Discard();
  for (std::uint32_t i = 0; i < kTickSamples; ++i) {
    if (const DeviceStatus status = support_->Tick(i * kTickSteps); !status.ok())
      throw Error(status.message + "; see `evo doctor`");
  }
  if (const DeviceStatus status = Wait(); !status.ok()) throw Error(status.message + "; see `evo doctor`");
  std::vector<ActivityRecord> records = cupti_.records->Collect(kTickSamples);
  std::erase_if(records, [this](const ActivityRecord& record) { return record.name != support_->tick_symbol(); });
  if (records.size() != kTickSamples) {
    throw Error(
        fmt::format("CUPTI recorded {} of {} kernels on {}: kernels cannot be timed; end other profilers and see `evo doctor`",
                    records.size(), kTickSamples, info_.name));
  }
  return TickOf(records);
}

LoadResult CudaDevice::Load(const CompiledProgram& program, std::size_t placements) {
  auto loaded = std::make_unique<CudaProgram>(info_, max_warps_per_multiprocessor_);
  DeviceStatus status = loaded->Load(program, placements);
  if (!status.ok()) return {std::move(status), nullptr};
  if (loaded->local_bytes() > SupportKernels::kMostLocalBytes) {
    return {{Outcome::kUnsupported,
             fmt::format("{} bytes of local memory a thread, {} at most can be kept apart from launch to launch",
                         loaded->local_bytes(), SupportKernels::kMostLocalBytes),
             false},
            nullptr};
  }
  if (const std::size_t local = LocalBytesToScrub(*loaded); local > 0) {
    // The driver enlarges the pool of local memory here, which waits for the device, and not in the first launch that is timed.
    status = support_->ScrubLocal(local);
    if (status.ok()) status = Wait();
    if (!status.ok()) return {std::move(status), nullptr};
  }
  for (const CompiledKernel& kernel : program.kernels) loaded_names_.insert(kernel.symbol);
  return {{}, std::move(loaded)};
}

DeviceStatus CudaDevice::Prepare(const Preparation& preparation) {
  if (DeviceStatus status = PrepareScratch(preparation.flush_bytes); !status.ok()) return status;
  return EnqueuePreparation(preparation, nullptr);
}

Inspected CudaDevice::Inspect(std::span<const Inspection> inspections) { return inspection_->Inspect(inspections); }

DeviceStatus CudaDevice::BeginInspection(std::span<const Inspection> inspections) { return inspection_->Begin(inspections); }

Inspected CudaDevice::CollectInspections() { return inspection_->Collect(); }

DeviceStatus CudaDevice::Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) {
  const DeviceStatus started = Start(program, sequence, schedule);
  const DeviceStatus finished = Wait();
  return started.ok() ? finished : started;
}

DeviceStatus CudaDevice::Start(LoadedProgram& program, const Sequence& sequence, std::uint64_t) {
  auto& loaded = static_cast<CudaProgram&>(program);
  if (DeviceStatus status = PrepareLaunches(loaded, sequence); !status.ok()) return status;
  expected_.clear();
  if (const std::size_t local = LocalBytesToScrub(loaded); local > 0) {
    if (DeviceStatus status = support_->ScrubLocal(local); !status.ok()) return status;
  }
  return EnqueueSequence(loaded, sequence, 0);
}

TimedRuns CudaDevice::Time(LoadedProgram& program, std::span<const TimedRun> runs) {
  auto& loaded = static_cast<CudaProgram&>(program);
  TimedRuns all;
  for (const TimedRun& run : runs) {
    all.status = PrepareLaunches(loaded, run.sequence);
    if (!all.status.ok()) return all;
  }
  std::size_t flush_bytes = 0;
  for (const TimedRun& run : runs) flush_bytes = std::max(flush_bytes, run.preparation.flush_bytes);
  all.status = PrepareScratch(flush_bytes);
  if (!all.status.ok()) return all;
  // L2 lines that an earlier kernel marked as persisting would survive a flush. Devices without such lines reject the call.
  if (cudaCtxResetPersistingL2Cache() != cudaSuccess) cudaGetLastError();
  while (!runs.empty()) {
    std::size_t count = 0;
    std::size_t operations = 0;
    while (count < runs.size() && (count == 0 || operations + OperationCount(runs[count]) <= kMostTogether))
      operations += OperationCount(runs[count++]);
    TimedRuns some = TimeTogether(loaded, runs.first(count));
    if (!some.status.ok()) return some;
    all.clocks = clocks_->Glance(kClocksAge);
    for (SequenceTime& time : some.times) time.disturbed = all.clocks.disturbed;
    all.times.insert(all.times.end(), some.times.begin(), some.times.end());
    runs = runs.subspan(count);
  }
  return all;
}

CudaDevice::Steps CudaDevice::UntimedSteps(CudaProgram& program, const TimedRun& run) {
  Steps steps{PrepareLaunches(program, run.sequence), {}, {}};
  if (steps.status.ok()) steps.status = PrepareScratch(run.preparation.flush_bytes);
  const auto ended = [this](DeviceStatus enqueued) {
    expected_.clear();
    DeviceStatus finished = Wait();
    return enqueued.ok() ? finished : enqueued;
  };
  steps.prepare = [this, ended, &program, &run] { return ended(EnqueuePreparation(run.preparation, &program)); };
  steps.run = [this, ended, &program, &run] { return ended(EnqueueSequence(program, run.sequence, 0)); };
  return steps;
}

CountedRun CudaDevice::Count(LoadedProgram& program, const TimedRun& run) {
  if (cupti_.root.empty()) return Device::Count(program, run);
  Steps steps = UntimedSteps(static_cast<CudaProgram&>(program), run);
  if (!steps.status.ok()) return {std::move(steps.status), {}};
  if (cupti_.profiler == nullptr) cupti_.profiler = std::make_unique<RangeProfiler>(cupti_.root, info_.ordinal);
  return cupti_.profiler->Count(steps.prepare, steps.run, run.sequence.size());
}

SampledStalls CudaDevice::SampleStalls(LoadedProgram& program, const TimedRun& run, int times) {
  if (cupti_.root.empty()) return Device::SampleStalls(program, run, times);
  auto& loaded = static_cast<CudaProgram&>(program);
  Steps steps = UntimedSteps(loaded, run);
  if (!steps.status.ok()) return {std::move(steps.status), {}};
  cupti_.profiler.reset();  // the two exclude each other
  return StallSampler(cupti_.root).Sample(steps.prepare, steps.run, times, loaded.image());
}

TimedRuns CudaDevice::TimeTogether(CudaProgram& program, std::span<const TimedRun> runs) {
  cupti_.records->Discard();
  expected_.clear();
  DeviceStatus status = Enqueue(program, runs);
  // After a failure, too, the device must not be left waiting.
  support_->Release();
  const DeviceStatus finished = Wait();
  if (status.ok()) status = finished;
  if (!status.ok()) return {std::move(status), {}, {}};
  std::vector<ActivityRecord> records = cupti_.records->Collect(expected_.size());
  MarkFormerNames(program, records);
  auto matched = MatchActivities(expected_, std::move(records), runs.size(), info_.tick_ns);
  if (auto* complaint = std::get_if<std::string>(&matched)) return {{Outcome::kCheating, std::move(*complaint), false}, {}, {}};
  return {{}, {}, std::move(std::get<std::vector<SequenceTime>>(matched))};
}

void CudaDevice::MarkFormerNames(const CudaProgram& program, std::vector<ActivityRecord>& records) const {
  for (ActivityRecord& record : records) {
    if (record.kind == ActivityKind::kKernel && !program.Has(record.name))
      record.former_name = loaded_names_.contains(record.name);
  }
}

DeviceStatus CudaDevice::Enqueue(CudaProgram& program, std::span<const TimedRun> runs) {
  if (DeviceStatus status = support_->Hold(); !status.ok()) return status;
  Expect(ActivityKind::kKernel, support_->hold_symbol(), ExpectedActivity::kOurs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (DeviceStatus status = EnqueuePreparation(runs[i].preparation, &program); !status.ok()) return status;
    if (DeviceStatus status = EnqueueSequence(program, runs[i].sequence, static_cast<int>(i)); !status.ok()) return status;
  }
  return {};
}

DeviceStatus CudaDevice::PrepareLaunches(CudaProgram& program, const Sequence& sequence) {
  for (const auto& step : sequence) {
    if (const auto* launch = std::get_if<DeviceLaunch>(&step)) {
      if (DeviceStatus status = program.Prepare(*launch); !status.ok()) return status;
    }
  }
  return {};
}

DeviceStatus CudaDevice::PrepareScratch(std::size_t needed) {
  if (needed <= scratch_.bytes) return {};
  if (scratch_.address != 0) memory_->Free(scratch_.address);
  scratch_.address = memory_->Allocate(needed);
  scratch_.bytes = scratch_.address == 0 ? 0 : needed;
  scratch_.flushed = 0;
  if (scratch_.address == 0)
    return {Outcome::kResourceLimit, fmt::format("no {} bytes of device memory left to flush L2 with", needed), false};
  return {};
}

std::vector<Inspection> CudaDevice::UnusedMemory() const {
  std::vector<Inspection> inspections = memory_->Unused();
  constexpr std::uint64_t kEveryByte = 0x0101010101010101ULL;
  if (scratch_.flushed > 0) {
    inspections.push_back(
        {Inspection::Kind::kPattern, scratch_.address, scratch_.value * kEveryByte, scratch_.flushed, Dtype::kU8, true});
  }
  return inspections;
}

std::size_t CudaDevice::LocalBytesToScrub(const CudaProgram& program) const {
  // Under a tool our kernels may not fill the device, and local memory is watched anyway.
  return cupti_.records == nullptr ? 0 : program.local_bytes();
}

DeviceStatus CudaDevice::Fill(const DeviceFill& fill, int run) {
  // A fill of no bytes leaves no record.
  if (fill.bytes == 0) return {};
  Expect(ActivityKind::kMemset, "", run);
  return ToStatus(cudaMemsetAsync(ToPointer(fill.address), fill.value, fill.bytes, stream_), "cudaMemsetAsync");
}

DeviceStatus CudaDevice::EnqueueScrub(const DevicePattern& pattern, const CudaProgram* program) {
  Expect(ActivityKind::kKernel, support_->scrub_symbol(), ExpectedActivity::kOurs);
  if (DeviceStatus status = support_->ScrubShared(pattern); !status.ok()) return status;
  const std::size_t local = program == nullptr ? 0 : LocalBytesToScrub(*program);
  if (local == 0) return {};
  Expect(ActivityKind::kKernel, support_->scrub_local_symbol(local), ExpectedActivity::kOurs);
  return support_->ScrubLocal(local);
}

DeviceStatus CudaDevice::EnqueuePreparation(const Preparation& preparation, const CudaProgram* program) {
  if (preparation.scrub) {
    if (DeviceStatus status = EnqueueScrub(preparation.scrubbed, program); !status.ok()) return status;
  }
  for (const DeviceCopy& copy : preparation.restore) {
    if (copy.bytes == 0) continue;
    Expect(ActivityKind::kMemcpy, "", ExpectedActivity::kOurs);
    const cudaError_t error =
        cudaMemcpyAsync(ToPointer(copy.to), ToPointer(copy.from), copy.bytes, cudaMemcpyDeviceToDevice, stream_);
    if (error != cudaSuccess) return ToStatus(error, "cudaMemcpyAsync on the device");
  }
  for (const DevicePoison& poison : preparation.poison) {
    if (poison.bytes == 0) continue;
    Expect(ActivityKind::kKernel, support_->poison_symbol(), ExpectedActivity::kOurs);
    if (DeviceStatus status = support_->Poison(poison); !status.ok()) return status;
  }
  if (preparation.flush_bytes > 0) {
    // The value changes each time, so that compression in L2 cannot make the flush cheap.
    const std::size_t unit = memory_->layout().unit_bytes;
    scratch_.flushed = (preparation.flush_bytes + unit - 1) / unit * unit;
    const DeviceFill flush{scratch_.address, scratch_.flushed, ++scratch_.value};
    if (DeviceStatus status = Fill(flush, ExpectedActivity::kOurs); !status.ok()) return status;
  }
  for (const DeviceTouch& touch : preparation.touch) {
    if (touch.bytes == 0) continue;
    Expect(ActivityKind::kKernel, support_->touch_symbol(), ExpectedActivity::kOurs);
    if (DeviceStatus status = support_->Touch(touch); !status.ok()) return status;
  }
  if (preparation.displace_code) {
    Expect(ActivityKind::kKernel, support_->displace_symbol(), ExpectedActivity::kOurs);
    if (DeviceStatus status = support_->DisplaceCode(); !status.ok()) return status;
  }
  return {};
}

DeviceStatus CudaDevice::EnqueueSequence(CudaProgram& program, const Sequence& sequence, int run) {
  program.NextPlace();
  for (const auto& step : sequence) {
    if (const auto* fill = std::get_if<DeviceFill>(&step)) {
      if (DeviceStatus status = Fill(*fill, run); !status.ok()) return status;
      continue;
    }
    const auto& launch = std::get<DeviceLaunch>(step);
    Expect(ActivityKind::kKernel, program.symbol(launch.kernel), run);
    if (DeviceStatus status = program.Enqueue(launch, stream_); !status.ok()) return status;
  }
  return {};
}

DeviceStatus CudaDevice::Wait() { return ToStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after the launches"); }

}  // namespace evo
