#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// A device whose kernels and clock are functions of the test. Its memory is the host's. It remembers what it timed.
class FakeDevice : public Device {
 public:
  // What an image does with the buffers of a launch, whose addresses it gets in order.
  using Kernel = std::function<void(const std::vector<Address>&)>;
  // The time of the timed run number `ordinal`, counted over the life of the device.
  using Clock = std::function<SequenceTime(std::size_t ordinal)>;

  struct Timed {
    const LoadedProgram* program;
    Preparation preparation;
    std::vector<Address> buffers;  // of the sequence's first launch
  };

  explicit FakeDevice(std::string_view kind) : FakeDevice(PolicyOf(kind)) {}
  explicit FakeDevice(const DevicePolicy& policy) : policy_(policy) {
    info_.kind = policy.kind;
    info_.name = "fake";
    info_.l2_bytes = 1 << 20;
    info_.tick_ns = 32;
  }

  std::map<std::string, Kernel> kernels;         // by image
  std::map<std::string, DeviceStatus> refusals;  // of Load, by image
  Clock clock = [](std::size_t) { return SequenceTime{1000, 1000, 1000, false}; };
  DeviceStatus timing_status;
  std::function<DeviceStatus(const std::string& image)> run_status = [](const std::string&) { return DeviceStatus{}; };
  std::function<ClockState()> clocks = [] { return ClockState{}; };
  std::function<SampledBlocks(const Sequence&, const BlockSample&)> run_blocks = [](const Sequence&, const BlockSample&) {
    return SampledBlocks{{}, 1, 1};
  };
  std::function<CountedRun(const std::string& image)> count = [](const std::string&) { return CountedRun{}; };
  std::function<SampledStalls(const std::string& image, int times)> stalls = [](const std::string&, int) {
    return SampledStalls{};
  };
  // How often a GPU would be waited for, by what was asked.
  struct Operations {
    int allocations = 0;
    int memory = 0;  // single writes, reads, fills and copies
    int inspections = 0;
    int runs = 0;
    int freed = 0;
  };
  Operations operations;
  std::vector<Timed> timed;
  std::vector<Preparation> prepared;     // for runs that were not timed
  std::vector<std::uint64_t> schedules;  // of all runs
  BufferLayout layout;                   // of its memory; to be set before anything is allocated
  std::vector<Inspection> unused;

  const DeviceInfo& info() const override { return info_; }
  const DevicePolicy& policy() const override { return policy_; }
  DeviceInfo& mutable_info() { return info_; }
  DeviceMemory& memory() override { return memory_; }
  LoadResult Load(const CompiledProgram& program, std::size_t) override {
    if (const auto refused = refusals.find(program.image); refused != refusals.end()) return {refused->second, nullptr};
    return {{}, std::make_unique<Loaded>(program.image, kernels.at(program.image))};
  }

  DeviceStatus Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) override {
    schedules.push_back(schedule);
    ++operations.runs;
    if (DeviceStatus status = run_status(static_cast<Loaded&>(program).image); !status.ok()) return status;
    for (const auto& step : sequence) {
      if (const auto* fill = std::get_if<DeviceFill>(&step)) memory_.Fill(*fill);
      if (const auto* launch = std::get_if<DeviceLaunch>(&step)) static_cast<Loaded&>(program).kernel(Buffers(*launch));
    }
    return {};
  }

  CountedRun Count(LoadedProgram& program, const TimedRun& run) override {
    prepared.push_back(run.preparation);
    return count(static_cast<Loaded&>(program).image);
  }

  SampledStalls SampleStalls(LoadedProgram& program, const TimedRun& run, int times) override {
    prepared.push_back(run.preparation);
    return stalls(static_cast<Loaded&>(program).image, times);
  }

  SampledBlocks RunBlocks(LoadedProgram&, const Sequence& sequence, const BlockSample& sample) override {
    return run_blocks(sequence, sample);
  }

  DeviceStatus Prepare(const Preparation& preparation) override {
    prepared.push_back(preparation);
    return Place(preparation);
  }

  Inspected Inspect(std::span<const Inspection> inspections) override {
    ++operations.inspections;
    Inspected inspected;
    for (const Inspection& inspection : inspections) inspected.results.push_back(InspectHere(inspection));
    return inspected;
  }

  std::vector<Inspection> UnusedMemory() const override { return unused; }

  TimedRuns Time(LoadedProgram& program, std::span<const TimedRun> runs) override {
    TimedRuns result{timing_status, clocks(), {}};
    for (const TimedRun& run : runs) {
      Place(run.preparation);
      Run(program, run.sequence, 0);
      result.times.push_back(clock(timed.size()));
      timed.push_back({&program, run.preparation, Buffers(std::get<DeviceLaunch>(run.sequence.front()))});
    }
    return result;
  }

 private:
  struct Loaded : LoadedProgram {
    Loaded(std::string name, Kernel function) : image(std::move(name)), kernel(std::move(function)) {}
    KernelFacts facts() const override { return {}; }
    std::string image;
    Kernel kernel;
  };

  class Memory : public DeviceMemory {
   public:
    Memory(const BufferLayout& layout, Operations& operations) : layout_(layout), operations_(operations) {}
    BufferLayout layout() const override { return layout_; }
    Address Allocate(std::size_t bytes) override {
      ++operations_.allocations;
      // As a device's memory is: what a buffer's guards are depends on where it begins.
      blocks_.push_back(std::make_unique<std::byte[]>(bytes + kAlignment));
      return (reinterpret_cast<Address>(blocks_.back().get()) + kAlignment - 1) / kAlignment * kAlignment;
    }
    void Free(Address) override { ++operations_.freed; }  // everything is freed at the end
    DeviceStatus Copy(const DeviceCopy& copy) override {
      ++operations_.memory;
      std::memcpy(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from), copy.bytes);
      return {};
    }
    DeviceStatus Write(Address to, std::span<const std::byte> from) override {
      ++operations_.memory;
      std::memcpy(reinterpret_cast<void*>(to), from.data(), from.size());
      return {};
    }
    DeviceStatus Read(std::span<std::byte> to, Address from) override {
      ++operations_.memory;
      std::memcpy(to.data(), reinterpret_cast<const void*>(from), to.size());
      return {};
    }
    DeviceStatus Poison(const DevicePoison& poison) override {
      ++operations_.memory;
      FillHere(poison);
      return {};
    }
    DeviceStatus Fill(const DeviceFill& fill) override {
      ++operations_.memory;
      std::memset(reinterpret_cast<void*>(fill.address), fill.value, fill.bytes);
      return {};
    }

   private:
    static constexpr std::size_t kAlignment = 4096;

    const BufferLayout& layout_;
    Operations& operations_;
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
  };

  DeviceStatus Place(const Preparation& preparation) {
    // Enqueued: nobody waits for these.
    const Operations before = operations;
    for (const DeviceCopy& copy : preparation.restore) memory_.Copy(copy);
    for (const DevicePoison& poison : preparation.poison) memory_.Poison(poison);
    operations = before;
    return {};
  }

  static std::vector<Address> Buffers(const DeviceLaunch& launch) {
    std::vector<Address> buffers;
    for (const auto& argument : launch.arguments) {
      if (const auto* address = std::get_if<Address>(&argument)) buffers.push_back(*address);
    }
    return buffers;
  }

  DevicePolicy policy_;
  DeviceInfo info_;
  Memory memory_{layout, operations};
};

}  // namespace evo
