// How a would-be champion is checked, in a process of its own.
#include <fmt/format.h>

#include <span>

#include "evaluator/session/run_session.h"

namespace evo {
namespace {

// A race that two runs did not show.
constexpr int kRepeats = 4;
// Three over six sets in eight places.
constexpr int kCudaRounds = 144;
constexpr int kCpuRounds = 9;
// On inputs that are not the timed ones: enough to see a kernel that is made for those.
constexpr int kCudaSamplesOfInputs = 20;
constexpr int kCpuSamplesOfInputs = 5;

}  // namespace

ChampionCheck RunSession::CheckChampion(const ChampionRequest& request, WorkerChannel& channel) {
  PlaceInputs(channel);
  ChampionCheck check;
  if (auto failure = CheckInto(check, request, channel)) {
    check.outcome = failure->outcome;
    check.message = failure->message;
    NoteContamination(*failure);
  } else {
    check.outcome = Outcome::kOk;
    check.candidate_ns = Score(check.candidate);
    check.baseline_ns = Score(check.baseline);
    check.speedup = check.baseline_ns / check.candidate_ns;
  }
  return check;
}

std::optional<Failure> RunSession::CheckInto(ChampionCheck& check, const ChampionRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kLoad);
  auto loaded = LoadProgram(*device_, request.candidate.source, request.candidate.program, kCodePlacements);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Program& program = std::get<Program>(loaded);

  channel.Begin(Stage::kHeldOut);
  Gate gate(*device_, task_->determinism);
  CheckedErrors errors;
  for (const Case& sizes : SearchCases()) {
    for (int g = 1; g < SearchGenerators(); ++g) {
      if (auto failure = CheckProbe(program, gate, {&sizes, g, kRepeats}, errors)) return failure;
    }
  }
  for (const Case& sizes : info().kind == "cpu" ? task_->held_out_cpu : task_->held_out) {
    for (int g = 0; g < Generators(); ++g) {
      if (auto failure = CheckProbe(program, gate, {&sizes, g, kRepeats}, errors)) return failure;
    }
    check.held_out_cases.push_back(sizes.name);
  }
  if (auto failure = CheckAccesses(request.checked, Generators())) return failure;
  if (!request.checked.program.image.empty()) check.tools.push_back({"checked accesses", "clean", ""});
  auto loaded_baseline = LoadProgram(*device_, request.baseline.source, request.baseline.program, kCodePlacements);
  if (auto* failure = std::get_if<Failure>(&loaded_baseline)) return *failure;
  std::list<std::unique_ptr<CaseOfProgram>> first;
  std::list<std::unique_ptr<CaseOfProgram>> second;
  if (auto failure = PrepareSearchCases(program, first)) return failure;
  if (auto failure = PrepareSearchCases(std::get<Program>(loaded_baseline), second)) return failure;
  for (const auto& one : first) {
    for (const BoundProgram& bound : std::span(one->bound).first(SetCount(one->sizes))) {
      if (auto failure = gate.Check(bound, kRepeats, one->errors)) return Located(*failure, one->sizes.name);
    }
  }
  channel.Begin(Stage::kTime, info().kind == "cpu");
  if (auto failure = CompareInterleaved(check, first, second)) return failure;
  return TimeOtherInputs(check.slowest, program, gate, channel);
}

std::optional<Failure> RunSession::TimeOtherInputs(SlowestInputs& slowest, Program& program, Gate& gate, WorkerChannel& channel) {
  const bool on_cpu = info().kind == "cpu";
  StoppingCriterion criterion = on_cpu ? StoppingCriterion::ForCpu() : StoppingCriterion::ForCuda();
  criterion.min_samples = criterion.max_samples = on_cpu ? kCpuSamplesOfInputs : kCudaSamplesOfInputs;
  criterion.usual_samples = 0;
  for (const Case& sizes : SearchCases()) {
    double timed_ns = kNoValue;
    for (int g = 0; g < Generators(); ++g) {
      channel.Begin(Stage::kPrepare);
      auto prepared = Prepare(program, sizes, {&SetLikeTimed(sizes, g)});
      if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, sizes.name);
      CaseOfProgram& one = *std::get<std::unique_ptr<CaseOfProgram>>(prepared);
      channel.Begin(Stage::kTime, on_cpu);
      Timer timer(*device_, gate, l2_, criterion, Rng(seeds_.back()).Next() + ++timed_);
      auto measured = timer.Measure(one.bound, one.errors);
      if (auto* failure = std::get_if<Failure>(&measured)) {
        // A disturbed machine says nothing against a champion that has passed everything else.
        if (failure->outcome != Outcome::kNoisy) return Located(*failure, sizes.name);
        slowest = {};
        return std::nullopt;
      }
      const double median_ns = std::get<CaseMeasurement>(measured).median_ns;
      if (g == 0) timed_ns = median_ns;
      if (slowest.ratio >= median_ns / timed_ns) continue;
      slowest = {median_ns / timed_ns, fmt::format("case {}, generator {}", sizes.name, g)};
    }
  }
  return std::nullopt;
}

std::optional<Failure> RunSession::CompareInterleaved(ChampionCheck& check, std::list<std::unique_ptr<CaseOfProgram>>& first,
                                                      std::list<std::unique_ptr<CaseOfProgram>>& second) {
  Gate gate(*device_, task_->determinism);
  Timer timer(*device_, gate, l2_, {}, Rng(seeds_.back()).Next());
  for (auto a = first.begin(), b = second.begin(); a != first.end(); ++a, ++b) {
    auto measured =
        timer.MeasureInterleaved((*a)->bound, (*b)->bound, (*a)->errors, info().kind == "cpu" ? kCpuRounds : kCudaRounds);
    if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, (*a)->sizes.name);
    auto& [candidate, baseline] = std::get<std::pair<CaseMeasurement, CaseMeasurement>>(measured);
    Describe(candidate, **a);
    Describe(baseline, **b);
    if (auto failure = CheckFloor(candidate)) return failure;
    candidate.l2_error = (*a)->errors.l2;
    candidate.max_error = (*a)->errors.max;
    check.candidate.push_back(std::move(candidate));
    check.baseline.push_back(std::move(baseline));
  }
  return std::nullopt;
}

}  // namespace evo
