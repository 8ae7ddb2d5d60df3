#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/outcome.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/inspection.h"
#include "kernel_templates/launch_plan.h"

namespace evo {

struct DeviceInfo {
  std::string kind;  // "cuda" or "cpu"
  std::string name;  // as the device calls itself
  std::string arch;  // compile target, such as "sm_90a"
  int ordinal = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;                              // 0: none to speak of
  std::size_t shared_bytes_per_block = 48 * 1024;        // without asking
  std::size_t shared_bytes_per_block_optin = 48 * 1024;  // the most a kernel may ask for
  int max_threads_per_block = 1024;
  int multiprocessors = 1;
  double tick_ns = 1;  // resolution of SequenceTime
  std::string driver;  // version, for the record
};
BOOST_DESCRIBE_STRUCT(DeviceInfo, (),
                      (kind, name, arch, ordinal, memory_bytes, l2_bytes, shared_bytes_per_block, shared_bytes_per_block_optin,
                       max_threads_per_block, multiprocessors, tick_ns, driver))

// An address in the device's memory; on the cpu device an ordinary pointer.
using Address = std::uint64_t;

// A tensor map of the buffer at an address, which the device makes when it launches.
struct DeviceTensorMap {
  Address address = 0;
  TensorMapUse use;
};

using DeviceArgument = std::variant<Address, ScalarUse, DeviceTensorMap>;

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

// What a candidate declared: launches and memsets, in order.
using Sequence = std::vector<std::variant<DeviceLaunch, DeviceFill>>;

// What happens before a sequence, in this order, outside its time.
struct Preparation {
  bool scrub_shared = true;         // shared memory of every multiprocessor is made NaN
  std::vector<DeviceCopy> restore;  // inout arguments
  std::vector<DeviceFill> poison;   // outputs
  std::size_t flush_bytes = 0;      // written elsewhere, to push everything out of L2
  std::vector<DeviceTouch> touch;   // inputs, for a hot L2
  bool displace_code = false;  // the instruction caches are filled with something else, as by the kernels between two calls of
                               // this one; not on the cpu device
};

struct TimedRun {
  Preparation preparation;
  Sequence sequence;
};

struct SequenceTime {
  std::uint64_t span_ticks = 0;  // end of the last record minus start of the first
  std::uint64_t busy_ticks = 0;  // sum of the records
  std::uint64_t wall_ns = 0;     // cpu device only, else 0
  bool disturbed = false;        // to be discarded: the clocks were held back
};

// How an operation on a device went. Not ok: what it means for the candidate. After a sticky failure the process must end.
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
  // Where the image's own variables lie (`__device__`, not `__constant__`), which outlive a launch: what a kernel may not change
  // to remember earlier launches.
  virtual std::vector<DeviceRange> State() const { return {}; }
};

// One result for each inspection asked for, if status.ok().
struct Inspected {
  DeviceStatus status;
  std::vector<InspectionResult> results;
};

struct LoadResult {
  DeviceStatus status;
  std::unique_ptr<LoadedProgram> program;  // set if status.ok()
};

// One device, used from one thread of one worker process. Memory comes 256-byte aligned and lives until Free. Running checks each
// launch before it is made: limits of the device (kResourceLimit), the count and byte sizes of the arguments against what the
// kernel takes (kLaunchError); dynamic shared memory over 48 KiB raises the function's attribute.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // 0 if there is not enough memory.
  virtual Address Allocate(std::size_t bytes) = 0;
  virtual void Free(Address address) = 0;
  virtual DeviceStatus Write(Address to, std::span<const std::byte> from) = 0;
  virtual DeviceStatus Read(std::span<std::byte> to, Address from) = 0;
  virtual DeviceStatus Fill(const DeviceFill& fill) = 0;
  virtual DeviceStatus Copy(const DeviceCopy& copy) = 0;
  // Tells that kernels may touch only these bytes of the allocation that holds them. A device that checks addresses then stops a
  // kernel that goes beyond; others do nothing.
  virtual void Guard(Address, std::size_t) {}
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual DeviceMemory& memory() = 0;
  // To so many places, which sequences take in turn: where the driver puts code moves a kernel's time by half a percent. One
  // place on the cpu device.
  virtual LoadResult Load(const CompiledProgram& program, std::size_t places) = 0;
  // Begins the preparation of what is run next; need not wait for it.
  virtual DeviceStatus Prepare(const Preparation& preparation) = 0;
  // Runs a sequence and waits for it. `schedule` permutes blocks and threads on the cpu device; 0 is the natural order.
  virtual DeviceStatus Run(LoadedProgram& program, const Sequence& sequence, std::uint64_t schedule) = 0;
  // Runs the prepared sequences one after another and times each. On cuda a run whose device records are not exactly the declared
  // ones, by count, name and order, gives kCheating.
  virtual TimedRuns Time(LoadedProgram& program, std::span<const TimedRun> runs) = 0;
  // Now, if the driver tells.
  virtual ClockState Clocks() { return {}; }
  // Looks at memory after everything begun before has ended.
  virtual Inspected Inspect(std::span<const Inspection> inspections) = 0;
};

}  // namespace evo
