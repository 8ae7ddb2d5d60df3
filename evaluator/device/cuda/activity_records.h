#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

enum class ActivityKind { kKernel, kMemset, kMemcpy };

// A kernel, memset or copy that ran on the device, as CUPTI reports it. Times are nanoseconds of the device's clock.
struct ActivityRecord {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;               // symbol of a kernel; else empty
  std::uint32_t correlation = 0;  // of the API call that caused it; rises from call to call
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  // The name is that of an earlier kernel that did not run now: CUPTI sometimes keeps the name of code that was unloaded from the
  // same address. Such a name is ignored; correlation and order count.
  bool former_name = false;
};

// One API call, in the order in which they were made.
struct ExpectedActivity {
  static constexpr int kOurs = -1;

  ActivityKind kind = ActivityKind::kKernel;
  std::string name;  // symbol of a kernel; else empty
  int run = kOurs;   // index of the timed run that declared it, or kOurs: preparation
};

// Span and sum of each run's records, in ticks of `tick_ns`, or a sentence that says what differs: the records, grouped and
// sorted by correlation, must be the expected ones in number, kind, name and order. A kernel is one record; a memset or copy may
// be several. Records before the first that has the first expected kernel's name come from earlier work and are ignored.
std::variant<std::vector<SequenceTime>, std::string> MatchActivities(std::span<const ExpectedActivity> expected,
                                                                     std::vector<ActivityRecord> records, std::size_t runs,
                                                                     double tick_ns);

// The step of the clock in nanoseconds: the largest number of which nine in ten durations are multiples, within a nanosecond of
// rounding. 1 if there is no such number, or too few durations differ.
double TickOf(std::span<const ActivityRecord> records);

}  // namespace evo
