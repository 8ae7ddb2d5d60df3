#include "evaluator/device/cpu/cpu_device.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cpu/cpu_program.h"
#include "evaluator/device/cpu/simt_runtime.h"
#include "evaluator/device/cpu/thread_watch.h"
#include "evaluator/device/scalar_bytes.h"

namespace evo {
namespace {

constexpr std::size_t kAlignment = 256;
// A Hopper block may ask for this much, so that a kernel that fits here fits there.
constexpr std::size_t kOptInShared = 227 * 1024;
// The last block of a sample may take as long again as the sample, and this long at least.
constexpr std::chrono::milliseconds kLeastOverTime{1000};

std::uint64_t ReadClock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

// A tensor map as a kernel takes it by value.
struct alignas(128) EncodedMap {
  evo_cpu_tensor_map map;
};
static_assert(sizeof(EncodedMap) == 128);

EncodedMap Encode(const DeviceTensorMap& made) {
  const TensorMapUse& use = made.use;
  EncodedMap encoded{};
  encoded.map.base = reinterpret_cast<const unsigned char*>(made.address);
  encoded.map.element_bytes = static_cast<unsigned>(ByteSize(use.dtype));
  encoded.map.dimensions = static_cast<unsigned>(use.dims.size());
  encoded.map.swizzle = use.swizzle;
  std::copy(use.dims.begin(), use.dims.end(), encoded.map.dims);
  std::copy(use.box.begin(), use.box.end(), encoded.map.box);
  return encoded;
}

class CpuMemory : public DeviceMemory {
 public:
  Address Allocate(std::size_t bytes) override {
    void* memory = nullptr;
    if (::posix_memalign(&memory, kAlignment, std::max<std::size_t>(bytes, 1)) != 0) return 0;
    buffers_.Add(reinterpret_cast<std::uintptr_t>(memory), bytes);
    return reinterpret_cast<Address>(memory);
  }
  void Free(Address address) override {
    buffers_.Remove(address);
    std::free(reinterpret_cast<void*>(address));
  }
  void Guard(Address address, std::size_t bytes) override { buffers_.Guard(address, bytes); }
  DeviceStatus Write(Address to, std::span<const std::byte> from) override {
    std::memcpy(reinterpret_cast<void*>(to), from.data(), from.size());
    return {};
  }
  DeviceStatus Read(std::span<std::byte> to, Address from) override {
    std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
    return {};
  }
  DeviceStatus Fill(const DeviceFill& fill) override {
    std::memset(reinterpret_cast<void*>(fill.address), fill.value, fill.bytes);
    return {};
  }
  DeviceStatus Poison(const DevicePoison& poison) override {
    FillHere(poison);
    return {};
  }
  DeviceStatus Copy(const DeviceCopy& copy) override {
    std::memcpy(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from), copy.bytes);
    return {};
  }
  MemoryMap& buffers() { return buffers_; }

 private:
  MemoryMap buffers_;
};

class CpuDevice : public Device {
 public:
  CpuDevice() {
    info_.kind = kCpuPolicy.kind;
    info_.name = ProcessorName() + ", emulated";
    info_.arch = "cpu";
    info_.shared_bytes_per_block_optin = kOptInShared;
    info_.memory_bytes = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
  }
  const DeviceInfo& info() const override { return info_; }
  const DevicePolicy& policy() const override { return kCpuPolicy; }
  DeviceMemory& memory() override { return memory_; }
  LoadResult Load(const CompiledProgram& program, std::size_t) override {
    const ProcessorUse before = ProcessorUse::Now();
    LoadResult loaded = CpuProgram::Load(program);
    if (!loaded.status.ok()) return loaded;
    if (!HasNewThread(before, ProcessorUse::Now())) return loaded;
    static_cast<CpuProgram&>(*loaded.program).poisoned = true;
    return {{Outcome::kCheating, "a thread was started when the image was loaded", true}, nullptr};
  }

  DeviceStatus Prepare(const Preparation& preparation) override {
    if (preparation.scrub) runtime_->Scrub(preparation.scrubbed);
    for (const DeviceCopy& copy : preparation.restore) memory_.Copy(copy);
    for (const DevicePoison& poison : preparation.poison) memory_.Poison(poison);
    if (preparation.flush_bytes > flush_.size()) flush_.resize(preparation.flush_bytes);
    std::fill_n(flush_.begin(), preparation.flush_bytes, ++flushes_);
    for (const DeviceTouch& touch : preparation.touch) {
      const auto* bytes = reinterpret_cast<const volatile unsigned char*>(touch.address);
      for (std::size_t i = 0; i < touch.bytes; i += 64) static_cast<void>(bytes[i]);
    }
    return {};
  }

  Inspected Inspect(std::span<const Inspection> inspections) override {
    Inspected inspected;
    for (const Inspection& inspection : inspections) inspected.results.push_back(InspectHere(inspection));
    return inspected;
  }

  DeviceStatus Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) override {
    auto& loaded = static_cast<CpuProgram&>(program);
    const ProcessorUse before = ProcessorUse::Now();
    for (const auto& step : sequence) {
      const DeviceStatus status = RunStep(loaded, step, {schedule, loaded.checked_data()});
      if (!status.ok()) return status;
    }
    return Watched(loaded, before, ProcessorUse::Now());
  }

  SampledBlocks RunBlocks(LoadedProgram& program, const Sequence& sequence, const BlockSample& sample) override {
    auto& loaded = static_cast<CpuProgram&>(program);
    SampledBlocks sampled;
    const auto* launch = std::get_if<DeviceLaunch>(&sequence.at(sample.step));
    if (launch == nullptr || loaded.checked_data() == nullptr) {
      sampled.status = {Outcome::kUnsupported, "not a launch of a program whose accesses are checked", false};
      return sampled;
    }
    for (std::size_t step = 0; step < sample.step; ++step) {
      sampled.status = RunStep(loaded, sequence[step], {0, nullptr});
      if (!sampled.status.ok()) return sampled;
    }
    sampled.all = std::uint64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2];
    const auto end = std::chrono::steady_clock::now() + sample.most;
    const StepRun how{std::max<std::uint64_t>(sample.seed, 1), loaded.checked_data(), true, end,
                      end + std::max<std::chrono::milliseconds>(sample.most, kLeastOverTime)};
    sampled.status = RunStep(loaded, *launch, how);
    sampled.run = blocks_run_;
    return sampled;
  }

  TimedRuns Time(LoadedProgram& program, std::span<const TimedRun> runs) override {
    TimedRuns timed;
    for (const TimedRun& run : runs) {
      Prepare(run.preparation);
      SequenceTime time;
      auto& loaded = static_cast<CpuProgram&>(program);
      const ProcessorUse before_run = ProcessorUse::Now();
      const std::uint64_t wall = ReadClock(CLOCK_MONOTONIC);
      const std::uint64_t start = ReadClock(CLOCK_THREAD_CPUTIME_ID);
      for (const auto& step : run.sequence) {
        const std::uint64_t before = ReadClock(CLOCK_THREAD_CPUTIME_ID);
        timed.status = RunStep(loaded, step, {0, loaded.checked_data()});
        if (!timed.status.ok()) return timed;
        time.busy_ticks += ReadClock(CLOCK_THREAD_CPUTIME_ID) - before;
      }
      time.span_ticks = ReadClock(CLOCK_THREAD_CPUTIME_ID) - start;
      time.wall_ns = ReadClock(CLOCK_MONOTONIC) - wall;
      timed.times.push_back(time);
      timed.status = Watched(loaded, before_run, ProcessorUse::Now());
      if (!timed.status.ok()) return timed;
    }
    return timed;
  }

 private:
  // How one step runs: see SimtLaunch.
  struct StepRun {
    std::uint64_t schedule = 0;
    MemoryMap* checked_data = nullptr;
    bool sample = false;
    std::chrono::steady_clock::time_point end{};
    std::chrono::steady_clock::time_point latest{};
  };

  static DeviceStatus Watched(CpuProgram& program, const ProcessorUse& before, const ProcessorUse& after) {
    const std::string why = WorkElsewhere(before, after);
    if (why.empty()) return {};
    program.poisoned = true;  // a thread may still run its code
    return {Outcome::kCheating, why, true};
  }

  DeviceStatus RunStep(CpuProgram& program, const std::variant<DeviceLaunch, DeviceFill>& step, const StepRun& how) {
    if (const auto* fill = std::get_if<DeviceFill>(&step)) return memory_.Fill(*fill);
    const auto& launch = std::get<DeviceLaunch>(step);
    if (DeviceStatus status = CheckLaunch(program, launch); !status.ok()) return status;
    std::deque<std::vector<std::byte>> values;
    std::deque<EncodedMap> maps;
    std::vector<void*> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* map = std::get_if<DeviceTensorMap>(&argument)) {
        arguments.push_back(&maps.emplace_back(Encode(*map)));
        continue;
      }
      // Memory of the heap is aligned for any of them.
      auto bytes = ArgumentBytes(argument);
      if (!bytes)
        return {Outcome::kLaunchError,
                fmt::format("{}: argument {} does not fit its dtype", program.name(launch.kernel), arguments.size() + 1), false};
      arguments.push_back(values.emplace_back(*std::move(bytes)).data());
    }
    const SimtResult result = runtime_->Run({program.kernel(launch.kernel), program.current(), launch.grid, launch.block,
                                             static_cast<std::size_t>(launch.shared_bytes), arguments.data(), how.schedule,
                                             how.checked_data, how.sample, how.end, how.latest});
    blocks_run_ = result.blocks;
    program.static_shared = std::max(program.static_shared, runtime_->static_shared_bytes());
    program.dynamic_shared = std::max<std::size_t>(program.dynamic_shared, launch.shared_bytes);
    if (result.fault == SimtFault::kNone && runtime_->static_shared_bytes() + launch.shared_bytes > kOptInShared) {
      return {Outcome::kResourceLimit,
              fmt::format("{}: {} bytes of static and {} of dynamic shared memory, the device has {}",
                          program.name(launch.kernel), runtime_->static_shared_bytes(), launch.shared_bytes, kOptInShared),
              false};
    }
    if (result.fault == SimtFault::kNone) return {};
    program.poisoned = true;
    return {Meaning(result.fault), fmt::format("{}: {}", program.name(launch.kernel), result.message), true};
  }

  static Outcome Meaning(SimtFault fault) {
    switch (fault) {
      case SimtFault::kSharedMemory:
      case SimtFault::kNoRoom:
        return Outcome::kResourceLimit;
      case SimtFault::kOutOfBounds:
        return Outcome::kCheating;
      case SimtFault::kRace:
        return Outcome::kNondeterministic;
      case SimtFault::kTime:
        return Outcome::kTimeout;
      default:
        return Outcome::kCrash;
    }
  }

  DeviceStatus CheckLaunch(const CpuProgram& program, const DeviceLaunch& launch) const {
    const std::string& name = program.name(launch.kernel);
    const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads == 0 || threads > static_cast<std::uint64_t>(info_.max_threads_per_block)) {
      return {Outcome::kResourceLimit,
              fmt::format("{}: {} threads a block, the device takes 1 to {}", name, threads, info_.max_threads_per_block), false};
    }
    if (launch.shared_bytes > kOptInShared) {
      return {Outcome::kResourceLimit,
              fmt::format("{}: {} bytes of dynamic shared memory, the device has {}", name, launch.shared_bytes, kOptInShared),
              false};
    }
    // A cluster of one block is none.
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1)
      return {Outcome::kUnsupported, fmt::format("{}: clusters are not supported on the cpu device", name), false};
    if (launch.cooperative)
      return {Outcome::kUnsupported, fmt::format("{}: cooperative launches are not supported on the cpu device", name), false};
    const evo_cpu_kernel& kernel = *program.kernel(launch.kernel);
    if (kernel.argument_count != launch.arguments.size()) {
      return {
          Outcome::kLaunchError,
          fmt::format("{} takes {} arguments, the launch line gives {}", name, kernel.argument_count, launch.arguments.size()),
          false};
    }
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const bool is_map = std::holds_alternative<DeviceTensorMap>(launch.arguments[i]);
      const auto bytes = ArgumentBytes(launch.arguments[i]);
      const std::size_t given = is_map ? sizeof(EncodedMap) : bytes ? bytes->size() : kernel.argument_bytes[i];
      if (given != kernel.argument_bytes[i]) {
        return {
            Outcome::kLaunchError,
            fmt::format("{}: argument {} has {} bytes, the launch line gives {}", name, i + 1, kernel.argument_bytes[i], given),
            false};
      }
    }
    return {};
  }

  DeviceInfo info_;
  CpuMemory memory_;
  // Not destroyed after a fault; see SimtRuntime.
  std::unique_ptr<SimtRuntime> runtime_ = std::make_unique<SimtRuntime>(memory_.buffers());
  std::vector<unsigned char> flush_;
  unsigned char flushes_ = 0;
  std::uint64_t blocks_run_ = 0;  // of the last launch
};

}  // namespace

std::unique_ptr<Device> MakeCpuDevice() { return std::make_unique<CpuDevice>(); }

}  // namespace evo
