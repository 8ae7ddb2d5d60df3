#include "core/counted_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace evo {
namespace {

// A program is near a rate from this share on.
constexpr double kNearPeak = 0.6;
// Tensor cores share the multiprocessor with what feeds them.
constexpr double kNearTensor = 0.5;
// An issue slot that is used three times of four leaves little room for anything.
constexpr double kIssueBound = 0.75;
// Conflicts matter where they add a third of the wavefronts and there are many.
constexpr double kManyConflicts = 0.33;
constexpr double kMuchShared = 0.3;
// Of the warps' time.
constexpr double kMuchWaiting = 0.25;
constexpr double kSomeWaiting = 0.05;

struct Named {
  double HardwareCounters::*field;
  const char* name;
};
constexpr Named kRates[] = {
    {&HardwareCounters::dram, "DRAM"},
    {&HardwareCounters::l2, "L2"},
    {&HardwareCounters::l1, "L1 and shared memory"},
    {&HardwareCounters::tensor, "tensor cores"},
    {&HardwareCounters::fma, "FMA pipe"},
    {&HardwareCounters::alu, "integer pipe"},
    {&HardwareCounters::xu, "pipe for special functions"},
    {&HardwareCounters::lsu, "load and store pipe"},
    {&HardwareCounters::issue, "issue slots"},
};
constexpr Named kWaits[] = {
    {&HardwareCounters::wait_memory, "global memory"},
    {&HardwareCounters::wait_shared, "shared memory or special functions"},
    {&HardwareCounters::wait_barrier, "barriers"},
    {&HardwareCounters::wait_math, "a busy arithmetic pipe"},
    {&HardwareCounters::wait_queue, "the queue to shared memory"},
    {&HardwareCounters::wait_load_queue, "the queue to global memory"},
    {&HardwareCounters::wait_fixed, "the instruction before"},
};

std::string InPercent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::vector<Named> LongestWaits(const HardwareCounters& counters) {
  std::vector<Named> waits;
  for (const Named& one : kWaits) {
    if (counters.*one.field >= kSomeWaiting) waits.push_back(one);
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [&](const Named& a, const Named& b) { return counters.*a.field > counters.*b.field; });
  return waits;
}

std::string OfPeak(double share, const char* of) { return fmt::format("{} of the peak of {}", InPercent(share), of); }

std::optional<Diagnosis> NearARate(const HardwareCounters& c) {
  if (c.dram >= kNearPeak) return Diagnosis{Bottleneck::kDram, OfPeak(c.dram, "DRAM")};
  if (c.l2 >= kNearPeak) return Diagnosis{Bottleneck::kL2, OfPeak(c.l2, "L2")};
  if (c.tensor >= kNearTensor) return Diagnosis{Bottleneck::kArithmetic, OfPeak(c.tensor, "tensor cores")};
  const Named pipes[] = {{&HardwareCounters::fma, "the FMA pipe"},
                         {&HardwareCounters::alu, "the integer pipe"},
                         {&HardwareCounters::xu, "the pipe for special functions"}};
  for (const auto& [field, name] : pipes) {
    if (c.*field >= kNearPeak) return Diagnosis{Bottleneck::kArithmetic, OfPeak(c.*field, name)};
  }
  return std::nullopt;
}

std::optional<Diagnosis> IsL1(const HardwareCounters& c) {
  const bool conflicts = c.bank_conflicts >= kManyConflicts;
  if (!(c.l1 >= (conflicts ? kMuchShared : kNearPeak))) return std::nullopt;
  const std::string of_conflicts =
      conflicts ? fmt::format("; bank conflicts are {} of the accesses to shared memory", InPercent(c.bank_conflicts)) : "";
  return Diagnosis{Bottleneck::kL1, OfPeak(c.l1, "L1 and shared memory") + of_conflicts};
}

Diagnosis Waits(const HardwareCounters& c) {
  const std::vector<Named> waits = LongestWaits(c);
  if (waits.empty()) return {Bottleneck::kUnknown, "near no peak, and warps wait for nothing in particular"};
  const std::string evidence = fmt::format("warps wait {}", DescribeWaits(c));
  const bool barriers = waits.front().field == &HardwareCounters::wait_barrier && c.wait_barrier >= kMuchWaiting;
  return {barriers ? Bottleneck::kBarrier : Bottleneck::kLatency, evidence};
}

}  // namespace

Diagnosis DiagnoseCounted(const HardwareCounters& counters) {
  if (!(counters.counted_ns > 0)) return {};
  if (auto near = NearARate(counters)) return *near;
  if (auto l1 = IsL1(counters)) return *l1;
  if (counters.issue >= kIssueBound) return {Bottleneck::kArithmetic, OfPeak(counters.issue, "the issue slots")};
  return Waits(counters);
}

bool CountersTellMoreThan(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kDram:
    case Bottleneck::kL2:
    case Bottleneck::kL1:
    case Bottleneck::kArithmetic:
    case Bottleneck::kBarrier:
    case Bottleneck::kLatency:
    case Bottleneck::kUnknown:
      return true;
    case Bottleneck::kNone:
    case Bottleneck::kTensorStarved:
    case Bottleneck::kSpills:
    case Bottleneck::kTail:
    case Bottleneck::kLaunch:
      return false;
  }
  return false;
}

std::string DescribeRates(const HardwareCounters& counters) {
  std::string text;
  for (const auto& [field, name] : kRates) {
    constexpr double kRoundsToZero = 0.005;
    if (counters.*field >= kRoundsToZero)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, InPercent(counters.*field));
  }
  return text;
}

std::string DescribeWaits(const HardwareCounters& counters) {
  std::string text;
  for (const auto& [field, name] : LongestWaits(counters))
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", InPercent(counters.*field), name);
  return text;
}

}  // namespace evo
