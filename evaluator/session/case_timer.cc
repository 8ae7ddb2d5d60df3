#include "evaluator/session/case_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluator/timer/fresh_comparison.h"

namespace evo {
namespace {

// Their medians are known to half a percent on a GPU.
constexpr int kFreshRounds = 48;
// A brief measurement takes about so long at most, but has so many samples.
constexpr double kBriefNs = 2e8;
constexpr int kFewestBriefSamples = 3;
// A machine that is disturbed once must not condemn a candidate.
constexpr int kFreshAttempts = 3;
// The reference runs once for each.
constexpr int kFreshAnswers = 2;

}  // namespace

CaseTimer::CaseTimer(Device& device, const InputPool& inputs, L2State l2, MachineState machine, std::function<bool()> jobs_wait)
    : device_(device), inputs_(inputs), l2_(l2), machine_(std::move(machine)), jobs_wait_(std::move(jobs_wait)) {}

std::variant<CaseMeasurement, Failure> CaseTimer::Measure(CaseOfProgram& one, Gate& gate, const std::optional<CaseBounds>& bounds,
                                                          double checked_ns) {
  const auto raced = [&](const SamplingPlan& sampling) {
    StoppingCriterion criterion{sampling};
    // A check launches once, and everything else in it takes less than a millisecond.
    constexpr double kCheckNs = 1e6;
    criterion.looks_long =
        sampling.long_seconds > 0 && sampling.min_samples * (checked_ns - kCheckNs) > 1e9 * sampling.long_seconds;
    if (!bounds) return criterion;
    criterion.prune_ticks = bounds->prune_ns / device_.info().tick_ns;
    criterion.looks_hopeless = checked_ns > kCheckNs + StoppingCriterion::kHopelessFactor * bounds->prune_ns;
    criterion.looks_far_beyond = checked_ns > kCheckNs + StoppingCriterion::kFarBeyondFactor * bounds->prune_ns;
    criterion.decided_ticks = bounds->decided_ns / device_.info().tick_ns;
    return criterion;
  };
  const DevicePolicy& policy = device_.policy();
  std::optional<IdleMeasurement> idle;
  if (policy.idle_sampling) idle = IdleMeasurement{raced(*policy.idle_sampling), jobs_wait_};
  Timer timer(device_, gate, l2_, raced(policy.sampling), NextSeed());
  auto measured = timer.Measure(one.bound, one.errors, idle);
  if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, one.sizes);
  auto& result = std::get<CaseMeasurement>(measured);
  Describe(result, one);
  if (auto failure = CheckFloor(result)) return Located(*failure, one.sizes);
  return measured;
}

std::variant<double, Failure> CaseTimer::MeasureBriefly(CaseOfProgram& one, Gate& gate, double expected_ns) {
  StoppingCriterion criterion{device_.policy().sampling};
  const int most = device_.policy().other_input_samples;
  const double within = std::isnan(expected_ns) ? most : std::min(static_cast<double>(most), kBriefNs / expected_ns);
  criterion.min_samples = criterion.max_samples = std::max(kFewestBriefSamples, static_cast<int>(within));
  criterion.looks_long = criterion.max_samples < most;
  criterion.usual_samples = 0;
  Timer timer(device_, gate, l2_, criterion, NextSeed());
  auto measured = timer.Measure(one.bound, one.errors);
  if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, one.sizes);
  return std::get<CaseMeasurement>(measured).median_ns;
}

std::optional<Failure> CaseTimer::MeasureInterleaved(CasesOfProgram& first, CasesOfProgram& second, Gate& gate, Pairs& pairs) {
  Timer timer(device_, gate, l2_, {}, Rng(inputs_.timer_seed()).Next());
  for (auto a = first.begin(), b = second.begin(); a != first.end(); ++a, ++b) {
    auto measured = timer.MeasureInterleaved((*a)->bound, (*b)->bound, (*a)->errors, device_.policy().interleaved_rounds);
    if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, (*a)->sizes);
    auto& [of_first, of_second] = std::get<Pairs::value_type>(measured);
    Describe(of_first, **a);
    Describe(of_second, **b);
    if (auto failure = CheckFloor(of_first)) return failure;
    of_first.l2_error = (*a)->errors.l2;
    of_first.max_error = (*a)->errors.max;
    pairs.emplace_back(std::move(of_first), std::move(of_second));
  }
  return std::nullopt;
}

std::optional<Failure> CaseTimer::CompareOnFreshData(CasesOfProgram& first, CasesOfProgram& second, Gate& gate,
                                                     const Pairs& repeated, double& ratio) {
  auto pair = repeated.begin();
  for (auto a = first.begin(), b = second.begin(); a != first.end(); ++a, ++b, ++pair) {
    double of_case = kNoValue;
    auto failure = CompareOnFreshData(**a, **b, gate, *pair, of_case);
    ratio = std::fmax(ratio, of_case);
    if (failure) return Located(*failure, (*a)->sizes);
  }
  return std::nullopt;
}

std::optional<Failure> CaseTimer::CompareOnFreshData(CaseOfProgram& first, CaseOfProgram& second, Gate& gate,
                                                     Pairs::value_type repeated, double& ratio) {
  const int rounds = std::min(kFreshRounds, device_.policy().interleaved_rounds);
  for (int attempt = 1;; ++attempt) {
    Timer timer(device_, gate, l2_, {}, NextSeed());
    auto measured = timer.MeasureOnFreshData(first.bound, second.bound, first.errors, rounds);
    if (auto* failure = std::get_if<Failure>(&measured)) return *failure;
    const auto& fresh = std::get<Pairs::value_type>(measured);
    const FreshComparison comparison(repeated, fresh);
    ratio = comparison.ratio;
    if (!comparison.knows_its_data()) return std::nullopt;
    if (attempt == kFreshAttempts) return Failure{Outcome::kCheating, evo::Describe(repeated, fresh)};
    auto again = timer.MeasureInterleaved(first.bound, second.bound, first.errors, rounds);
    if (auto* failure = std::get_if<Failure>(&again)) return *failure;
    repeated = std::move(std::get<Pairs::value_type>(again));
  }
}

std::optional<Failure> CaseTimer::CheckOnFreshData(CasesOfProgram& cases, Gate& gate) {
  for (const auto& one : cases) {
    Timer timer(device_, gate, l2_, {}, NextSeed());
    const auto make_inputs = [&](const DrawnArguments& contents) { return inputs_.Make(one->sizes, contents, NextSeed()); };
    if (auto failure = timer.CheckOnFreshData(one->bound, inputs_.task(), one->errors, kFreshAnswers, make_inputs))
      return Located(*failure, one->sizes);
  }
  return std::nullopt;
}

std::uint64_t CaseTimer::NextSeed() { return Rng(inputs_.timer_seed()).Next() + ++timed_; }

void CaseTimer::Describe(CaseMeasurement& measured, const CaseOfProgram& one) const {
  measured.name = one.sizes.name;
  measured.weight = one.sizes.weight;
  measured.launches = one.binding.Describe();
  const Variables variables = CaseVariables(inputs_.task(), one.sizes);
  const auto declared = [&](const Expression& expression) {
    const double value = expression.Evaluate(variables).AsReal();
    return value > 0 ? value : kNoValue;
  };
  measured.bytes = declared(inputs_.task().bytes);
  measured.operations = declared(inputs_.task().operations);
}

std::optional<Failure> CaseTimer::CheckFloor(const CaseMeasurement& measured) const {
  const double floor = FloorNs(machine_, measured.bytes, measured.operations);
  if (!(measured.median_ns < floor)) return std::nullopt;
  return Failure{
      Outcome::kCheating,
      fmt::format(
          "{:.3f} us, where this GPU needs {:.3f} us at least for {:.4g} bytes and {:.4g} operations: it was not all done "
          "while it was timed, or task.json declares too much",
          measured.median_ns / 1e3, floor / 1e3, measured.bytes, measured.operations)};
}

}  // namespace evo
