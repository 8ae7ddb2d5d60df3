#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

enum class ActivityKind { kKernel, kMemset, kMemcpy };

// One thing that ran on the device, as CUPTI reports it. Times in nanoseconds of the device's clock.
struct ActivityRecord {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;               // symbol of a kernel; else empty
  std::uint32_t correlation = 0;  // of the API call that caused it; rises from call to call
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  // The name is that of a kernel which was loaded before and did not run now: CUPTI sometimes goes on naming what lies at the
  // place of an unloaded image. It says nothing; correlation and order do.
  bool former_name = false;
};

// One API call that was made, in order.
struct ExpectedActivity {
  static constexpr int kOurs = -1;

  ActivityKind kind = ActivityKind::kKernel;
  std::string name;  // symbol of a kernel; else empty
  int run = kOurs;   // index of the timed run that declared it, or kOurs: preparation
};

// Span and sum of the records that each run declared, in ticks of `tick_ns`. The records, grouped by correlation and sorted by
// it, must be exactly the expected ones: as many, of these kinds and names, in this order; a kernel is one record, a memset or
// copy may be several. Records before the first expected kernel's name are left over from earlier and ignored. Otherwise a
// sentence that says what differs.
std::variant<std::vector<SequenceTime>, std::string> MatchActivities(std::span<const ExpectedActivity> expected,
                                                                     std::vector<ActivityRecord> records, std::size_t runs,
                                                                     double tick_ns);

// The step of the clock in nanoseconds: the largest that nine durations in ten are multiples of, but for a nanosecond of rounding
// either way. 1 if there is none, or too few different durations tell.
double TickOf(std::span<const ActivityRecord> records);

}  // namespace evo
