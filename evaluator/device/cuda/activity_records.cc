#include "evaluator/device/cuda/activity_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace evo {
namespace {

// A clock coarser than this would be no timer.
constexpr std::uint64_t kCoarsestTick = 1100;
// Start and end are converted to nanoseconds separately, so that a duration is a multiple of the clock's step give or take this
// much.
constexpr std::uint64_t kRounding = 1;
// The share of durations that must be that close to a multiple.
constexpr std::uint64_t kNearAny = 2 * kRounding + 1;
// CUPTI now and then adjusts the conversion, and a duration across that moment is off by more.
constexpr double kFewestNear = 0.9;
// The chance that so many durations are near multiples of a step that is not the clock's.
constexpr double kMostByChance = 1e-6;

// Hoeffding's and Chernoff's bound of the chance that at least this share of `count` trials succeeds, where each succeeds with
// probability p < share.
double ByChance(double count, double share, double p) {
  if (share <= p) return 1;
  const double rest = share < 1 ? (1 - share) * std::log((1 - share) / (1 - p)) : 0;
  return std::exp(-count * (share * std::log(share / p) + rest));
}

std::string ToString(ActivityKind kind, const std::string& name) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel " + name;
    case ActivityKind::kMemset:
      return "a memset";
    case ActivityKind::kMemcpy:
      return "a copy";
  }
  return name;
}

struct Window {
  std::uint64_t start = UINT64_MAX;
  std::uint64_t end = 0;
  std::uint64_t busy = 0;
};

// Durations are multiples of `tick_ns`; rounding removes the error of their conversion to nanoseconds.
std::uint64_t Ticks(std::uint64_t nanoseconds, double tick_ns) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(nanoseconds) / tick_ns));
}

// The records without those of earlier work: from the first one on that could be the first expected one.
std::span<const ActivityRecord> SinceFirst(const std::vector<ActivityRecord>& records, const ExpectedActivity& first) {
  const auto begin = std::find_if(records.begin(), records.end(), [&](const ActivityRecord& record) {
    return record.kind == first.kind && record.name == first.name;
  });
  return {begin, records.end()};
}

}  // namespace

std::variant<std::vector<SequenceTime>, std::string> MatchActivities(std::span<const ExpectedActivity> expected,
                                                                     std::vector<ActivityRecord> records, std::size_t runs,
                                                                     double tick_ns) {
  if (expected.empty()) return std::vector<SequenceTime>(runs);
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.correlation < b.correlation; });
  std::span<const ActivityRecord> rest = SinceFirst(records, expected.front());
  std::vector<Window> windows(runs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ExpectedActivity& wanted = expected[i];
    if (rest.empty())
      return fmt::format("{} was declared and is not among the device's records", ToString(wanted.kind, wanted.name));
    const std::uint32_t correlation = rest.front().correlation;
    std::size_t count = 0;
    while (count < rest.size() && rest[count].correlation == correlation) {
      const ActivityRecord& record = rest[count++];
      if (record.kind != wanted.kind || (record.name != wanted.name && !record.former_name)) {
        return fmt::format("{} ran where {} was declared", ToString(record.kind, record.name),
                           ToString(wanted.kind, wanted.name));
      }
      if (wanted.run == ExpectedActivity::kOurs) continue;
      Window& window = windows[static_cast<std::size_t>(wanted.run)];
      window.start = std::min(window.start, record.start);
      window.end = std::max(window.end, record.end);
      window.busy += record.end - record.start;
    }
    if (wanted.kind == ActivityKind::kKernel && count != 1)
      return fmt::format("kernel {} ran {} times in one launch", wanted.name, count);
    rest = rest.subspan(count);
  }
  if (!rest.empty()) return fmt::format("{} ran and was not declared", ToString(rest.front().kind, rest.front().name));
  std::vector<SequenceTime> times;
  for (const Window& window : windows) {
    SequenceTime time;
    if (window.end > 0) {
      time.span_ticks = Ticks(window.end - window.start, tick_ns);
      time.busy_ticks = Ticks(window.busy, tick_ns);
    }
    times.push_back(time);
  }
  return times;
}

double TickOf(std::span<const ActivityRecord> records) {
  std::set<std::uint64_t> lengths;
  for (const ActivityRecord& record : records) lengths.insert(record.end - record.start);
  const auto count = static_cast<double>(lengths.size());
  for (std::uint64_t tick = kCoarsestTick; tick > kNearAny; --tick) {
    const auto near = std::count_if(lengths.begin(), lengths.end(),
                                    [&](std::uint64_t length) { return (length + kRounding) % tick < kNearAny; });
    const double share = static_cast<double>(near) / count;
    if (share >= kFewestNear &&
        ByChance(count, share, static_cast<double>(kNearAny) / static_cast<double>(tick)) <= kMostByChance)
      return static_cast<double>(tick);
  }
  return 1.0;
}

}  // namespace evo
