#include "evaluator/session/other_inputs.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <variant>

namespace evo {
namespace {

// Of the candidate's time over the baseline's. Smaller differences come from caches and clocks.
constexpr double kSlowerThanBaseline = 1.25;

}  // namespace

std::optional<Failure> OtherInputs::Compare(Program& candidate, Program& baseline, ChampionCheck& check) {
  std::size_t number = 0;
  for (const Case& sizes : context_.inputs.search_cases()) {
    Pair expected;
    if (number < check.candidate.size())
      expected.median_ns = {check.candidate[number].median_ns, check.baseline[number].median_ns};
    ++number;
    auto failure = CompareOn(sizes, candidate, baseline, expected, check.slowest);
    if (!failure) continue;
    if (failure->outcome != Outcome::kNoisy) return failure;
    // A disturbed machine says nothing against a candidate that has passed everything else.
    check.slowest = {};
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Failure> OtherInputs::CompareOn(const Case& sizes, Program& candidate, Program& baseline, const Pair& expected,
                                              SlowestInputs& slowest) {
  std::array<double, 2> timed_ns{};
  for (int g = 0; g < context_.inputs.Generators(); ++g) {
    Pair pair;
    pair.median_ns = expected.median_ns;
    if (auto failure = Measure(sizes, g, candidate, baseline, pair)) return failure;
    const auto [candidate_ns, baseline_ns] = pair.median_ns;
    if (g == 0) timed_ns = pair.median_ns;
    const double ratio = candidate_ns / timed_ns[0];
    if (!(slowest.ratio >= ratio)) slowest = {ratio, fmt::format("case {}, generator {}", sizes.name, g)};
    const bool slower = timed_ns[0] <= timed_ns[1] && candidate_ns >= kSlowerThanBaseline * baseline_ns;
    if (!slower) continue;
    if (auto failure = Confirm(pair, g)) return failure;
  }
  return std::nullopt;
}

// A gate compares the bits of all runs on a set of inputs, and the two kernels may round differently.
Gate OtherInputs::NewGate() const { return Gate(context_.device, context_.inputs.task().determinism); }

std::optional<Failure> OtherInputs::Measure(const Case& sizes, int generator, Program& candidate, Program& baseline, Pair& pair) {
  const std::string part = fmt::format("case {}, generator {}", sizes.name, generator);
  channel_.BeginPart(Stage::kPrepare, part);
  InputSet& set = context_.inputs.CheckedSet(sizes, generator);
  const std::array<Program*, 2> programs{&candidate, &baseline};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    auto prepared = checker_.Prepare(*programs[i], sizes, {&set});
    if (auto* failure = std::get_if<Failure>(&prepared)) return *failure;
    pair.cases[i].push_back(std::get<std::unique_ptr<CaseOfProgram>>(std::move(prepared)));
  }
  channel_.BeginPart(Stage::kTime, part, context_.device.policy().pauses_compilers);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    Gate gate = NewGate();
    const auto measured = context_.timer.MeasureBriefly(*pair.cases[i].front(), gate, pair.median_ns[i]);
    const auto* failure = std::get_if<Failure>(&measured);
    if (failure != nullptr && i == 0) return *failure;
    pair.median_ns[i] = failure != nullptr ? kNoValue : std::get<double>(measured);
  }
  return std::nullopt;
}

// One after the other, the two may have met different clocks; interleaved they do not.
std::optional<Failure> OtherInputs::Confirm(Pair& pair, int generator) {
  CaseTimer::Pairs measured;
  Gate gate = NewGate();
  if (auto failure = context_.timer.MeasureInterleaved(pair.cases[0], pair.cases[1], gate, measured)) return failure;
  const auto& [candidate, baseline] = measured.front();
  if (candidate.median_ns < kSlowerThanBaseline * baseline.median_ns) return std::nullopt;
  const std::string message = fmt::format(
      "faster than the baseline on the timed inputs, but slower on those of generator {}, {:.2f} us against {:.2f} us", generator,
      candidate.median_ns / 1e3, baseline.median_ns / 1e3);
  return Located({Outcome::kSlower, message, false}, pair.cases[0].front()->sizes);
}

}  // namespace evo
