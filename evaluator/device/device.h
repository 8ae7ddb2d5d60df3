#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/hardware_counters.h"
#include "core/outcome.h"
#include "core/stall_line.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/device/inspection.h"
#include "evaluator/device/pattern.h"
#include "kernel_templates/launch_plan.h"

namespace evo {

struct DeviceInfo {
  std::string kind;  // DevicePolicy::kind
  std::string name;  // as the device calls itself
  std::string arch;  // compile target, such as "sm_90a"
  int ordinal = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;                              // 0: not known
  std::size_t shared_bytes_per_block = 48 * 1024;        // by default
  std::size_t shared_bytes_per_block_optin = 48 * 1024;  // the most a kernel may ask for
  int max_threads_per_block = 1024;
  int multiprocessors = 1;
  double tick_ns = 1;  // resolution of SequenceTime
  std::string driver;  // version, for the record
  std::string uuid;    // of the GPU, "GPU-8-4-4-4-12 digits", on whichever machine it is; empty: the device has none
};
BOOST_DESCRIBE_STRUCT(DeviceInfo, (),
                      (kind, name, arch, ordinal, memory_bytes, l2_bytes, shared_bytes_per_block, shared_bytes_per_block_optin,
                       max_threads_per_block, multiprocessors, tick_ns, driver, uuid))

// An address in the device's memory; on the cpu device an ordinary pointer.
using Address = std::uint64_t;

// A tensor map of the buffer at an address. The device makes it when it launches.
struct DeviceTensorMap {
  Address address = 0;
  TensorMapUse use;
};

// A struct by value; see StructUse.
struct DeviceStruct {
  std::vector<std::variant<Address, ScalarUse>> fields;
};

using DeviceArgument = std::variant<Address, ScalarUse, DeviceTensorMap, DeviceStruct>;

struct DeviceLaunch {
  std::size_t kernel = 0;  // index into CompiledProgram::kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};
  std::uint64_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<DeviceArgument> arguments;
};

struct DeviceFill {
  Address address = 0;
  std::size_t bytes = 0;
  std::uint8_t value = 0;
};

struct DeviceCopy {
  Address to = 0;
  Address from = 0;
  std::size_t bytes = 0;
};

struct DeviceRange {
  Address address = 0;
  std::size_t bytes = 0;
};

// Reads the bytes so that they are in L2 afterwards.
struct DeviceTouch {
  Address address = 0;
  std::size_t bytes = 0;
};

// The launches and memsets that a candidate declares, in order.
using Sequence = std::vector<std::variant<DeviceLaunch, DeviceFill>>;

// What happens before a sequence, in this order, outside its time.
struct Preparation {
  // What outlives a launch is overwritten: the shared memory of every multiprocessor, and the local memory of a program that uses
  // any.
  bool scrub = true;
  DevicePattern scrubbed;            // what it holds afterwards
  std::vector<DeviceCopy> restore;   // inout arguments, and inputs whose contents are written again or changed; later ones last
  std::vector<DevicePoison> poison;  // outputs and workspaces
  std::size_t flush_bytes = 0;       // written elsewhere, to push everything out of L2
  std::vector<DeviceTouch> touch;    // inputs, for a hot L2
  bool displace_code = false;        // other code replaces this program's in the instruction caches; not on the cpu device
};

struct TimedRun {
  Preparation preparation;
  Sequence sequence;
};

struct SequenceTime {
  std::uint64_t span_ticks = 0;  // end of the last record minus start of the first
  std::uint64_t busy_ticks = 0;  // sum of the records
  std::uint64_t wall_ns = 0;     // where the policy says that it is reported, else 0
  bool disturbed = false;        // the clocks were throttled: the sample is discarded
};

// How an operation on a device went, and what it means for the candidate. After a sticky failure the process must end.
struct DeviceStatus {
  Outcome outcome = Outcome::kOk;
  std::string message;
  bool sticky = false;
  bool ok() const { return outcome == Outcome::kOk; }
};

struct TimedRuns {
  DeviceStatus status;
  ClockState clocks;                // after the last of them
  std::vector<SequenceTime> times;  // one per run if status.ok()
};

// A compiled program on the device. Unloads when destroyed.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  virtual KernelFacts facts() const = 0;
  // Where the image's own variables lie (`__device__` and `__constant__`). They outlive a launch, so a kernel that changed them
  // could keep something from earlier launches.
  virtual std::vector<DeviceRange> State() const { return {}; }
  // Where one of CompiledProgram::variables lies, by its symbol: at each load address. Empty if the image has none of this name.
  virtual std::vector<DeviceRange> Places(const std::string&) const { return {}; }
};

// Which blocks of a sequence run with every access checked.
struct BlockSample {
  std::size_t step = 0;    // of the sequence: a launch
  std::uint64_t seed = 0;  // of the choice, and of the order of threads
  std::chrono::milliseconds most{0};
};

// What became of a sample: how many of the launch's blocks ran, and what was wrong. kTimeout: one block alone took too long.
struct SampledBlocks {
  DeviceStatus status;
  std::uint64_t run = 0;
  std::uint64_t all = 0;
};

// One result for each inspection asked for, if status.ok().
struct Inspected {
  DeviceStatus status;
  std::vector<InspectionResult> results;
};

// What the hardware counted, if status.ok().
struct CountedRun {
  DeviceStatus status;
  HardwareCounters counters;
};

// Where warps were found, if status.ok().
struct SampledStalls {
  DeviceStatus status;
  std::vector<StallSample> samples;
};

struct LoadResult {
  DeviceStatus status;
  std::unique_ptr<LoadedProgram> program;  // set if status.ok()
};

// How buffers lie in a device's memory.
struct BufferLayout {
  // Of guard on both sides of a buffer, a multiple of every alignment in use. 0: buffers are exactly as large as their contents,
  // for a tool that watches every allocation's bounds.
  std::size_t guard_bytes = 4096;
  // Kernels can reach the rest of a unit of this size that holds a part of an allocation, so guards go on to its end.
  std::size_t unit_bytes = 1;
};

// A device's memory. Allocations are aligned to 256 bytes and live until Free.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // 0 if there is not enough memory.
  virtual Address Allocate(std::size_t bytes) = 0;
  virtual void Free(Address address) = 0;
  virtual DeviceStatus Write(Address to, std::span<const std::byte> from) = 0;
  virtual DeviceStatus Read(std::span<std::byte> to, Address from) = 0;
  virtual DeviceStatus Fill(const DeviceFill& fill) = 0;
  virtual DeviceStatus Poison(const DevicePoison& poison) = 0;
  virtual DeviceStatus Copy(const DeviceCopy& copy) = 0;
  // Kernels may touch only these bytes of the allocation that holds them. A device that checks addresses stops a kernel that
  // touches others; other devices do nothing.
  virtual void Guard(Address, std::size_t) {}
  virtual BufferLayout layout() const { return {}; }
};

// One device, used from one thread of one worker process. Each launch is checked before it is made: against the limits of the
// device (kResourceLimit), and its arguments in number and size against what the kernel takes (kLaunchError). Dynamic shared
// memory over 48 KiB raises the function's attribute.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // How programs are checked and timed here.
  virtual const DevicePolicy& policy() const = 0;
  virtual DeviceMemory& memory() = 0;
  // Loads the program at that many addresses, and sequences use one after the other: the address of the code moves a kernel's
  // time by half a percent. The cpu device has one address.
  virtual LoadResult Load(const CompiledProgram& program, std::size_t placements) = 0;
  // Begins the preparation for the next run; may return before it is done.
  virtual DeviceStatus Prepare(const Preparation& preparation) = 0;
  // Runs a sequence and waits for it. `schedule` permutes blocks and threads on the cpu device; 0 is the natural order.
  virtual DeviceStatus Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) = 0;
  // Run, but where the device can it does not wait: Inspect waits, and reports what went wrong.
  virtual DeviceStatus Start(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) {
    return Run(program, sequence, schedule);
  }
  // Runs the prepared sequences one after another and times each. Where the device keeps records of what ran, records that differ
  // from the declared launches in count, name or order give kCheating.
  virtual TimedRuns Time(LoadedProgram& program, std::span<const TimedRun> runs) = 0;
  // Runs what comes before the sample's launch as it is, then some of that launch's blocks with every access checked: its ends,
  // then neighbours drawn at random, until all have run or the time is over. `program` was compiled with checked accesses. Only
  // where the policy says that accesses can be checked.
  virtual SampledBlocks RunBlocks(LoadedProgram&, const Sequence&, const BlockSample&) {
    return {{Outcome::kUnsupported, "this device does not check accesses", false}, 0, 0};
  }
  // Runs the prepared sequence as often as the hardware needs to count what it does. Only on a device that was made for it.
  // Throws Error where counting fails.
  virtual CountedRun Count(LoadedProgram&, const TimedRun&) {
    return {{Outcome::kUnsupported, "this device counts nothing", false}, {}};
  }
  // Runs the prepared sequence that often and samples where warps wait. The same devices and errors as Count. The program's image
  // must have been compiled with CompilerInput::line_info.
  virtual SampledStalls SampleStalls(LoadedProgram&, const TimedRun&, int /*times*/) {
    return {{Outcome::kUnsupported, "this device samples nothing", false}, {}};
  }
  // The present clocks, if the driver reports them.
  virtual ClockState Clocks() { return {}; }
  // Looks at memory after all earlier work has ended.
  virtual Inspected Inspect(std::span<const Inspection> inspections) = 0;
  // Inspect, but where the device can it does not wait: what is started later runs after it. Then, in the order in which they
  // were begun, the results of all since the last time; waits for them. Inspect must not be called between the two.
  virtual DeviceStatus BeginInspection(std::span<const Inspection> inspections) {
    Inspected one = Inspect(inspections);
    begun_.results.insert(begun_.results.end(), one.results.begin(), one.results.end());
    if (begun_.status.ok()) begun_.status = one.status;
    return std::move(one.status);
  }
  virtual Inspected CollectInspections() { return std::exchange(begun_, {}); }
  // Inspections of memory that kernels can reach and that belongs to no buffer. A difference means that a kernel wrote there.
  virtual std::vector<Inspection> UnusedMemory() const { return {}; }

 private:
  Inspected begun_;
};

}  // namespace evo
