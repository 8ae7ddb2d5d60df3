#include "evaluator/session/candidate_evaluation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "evaluator/session/idle_reverification.h"

namespace evo {
namespace {

// Most races show within two runs; a champion candidate gets more.
constexpr int kRepeats = 2;

KernelFacts Merge(KernelFacts compiled, const KernelFacts& loaded) {
  const auto take = [](int& into, int from) {
    if (from >= 0 && into < 0) into = from;
  };
  take(compiled.registers, loaded.registers);
  take(compiled.static_shared_bytes, loaded.static_shared_bytes);
  take(compiled.local_bytes, loaded.local_bytes);
  take(compiled.spill_bytes, loaded.spill_bytes);
  compiled.dynamic_shared_bytes = loaded.dynamic_shared_bytes;
  compiled.occupancy = loaded.occupancy;
  return compiled;
}

}  // namespace

CandidateEvaluation::CandidateEvaluation(const SessionContext& context, const EvaluateRequest& request, WorkerChannel& channel)
    : context_(context),
      request_(request),
      channel_(channel),
      checker_(context.device, context.inputs),
      gate_(context.device, context.inputs.task().determinism) {}

std::optional<Failure> CandidateEvaluation::Run(Evaluation& evaluation, std::chrono::milliseconds reverification_time) {
  evaluation_ = &evaluation;
  const DevicePolicy& policy = context_.device.policy();
  IdleReverification reverification(context_, reverification_time);
  if (policy.reverifies_when_idle && !context_.jobs_wait()) reverification.Draw(evaluation.source_digest);

  Enter(Stage::kLoad);
  const std::size_t placements = context_.jobs_wait() ? 1 : policy.code_placements;
  auto loaded = LoadProgram(context_.device, request_.candidate.source, request_.candidate.program, placements);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Program& program = std::get<Program>(loaded);

  Enter(Stage::kCheck);
  HardInputCheck hard(context_, program, gate_);
  const auto failed_on_hard = [&](std::optional<Failure> failure) {
    if (failure) evaluation.counterexample = hard.counterexample();
    return failure;
  };
  // The first run of a candidate, where the device has such images: a wild write of any other would hit this process.
  if (auto failure = Noted(checker_.CheckAccesses(request_.checked, 1), {&context_.inputs.task().small, 0, 1})) return failure;
  if (auto failure = failed_on_hard(hard.CheckKnown(request_.first))) return failure;
  if (auto failure = CheckFirst(program)) return failure;
  auto cases = checker_.PrepareSearchCases(program);
  if (auto* failure = std::get_if<Failure>(&cases)) return *failure;
  for (const auto& one : std::get<CasesOfProgram>(cases)) {
    if (auto failure = CheckAndTime(program, *one)) return failure;
  }
  const bool pruned = std::all_of(evaluation.cases.begin(), evaluation.cases.end(), [](const auto& one) { return one.pruned; });
  if (!pruned) {
    evaluation.stage = Stage::kCheck;
    if (auto failure =
            failed_on_hard(hard.CheckBatteryTogether(IsFastest() ? policy.fastest_battery : policy.searched_battery))) {
      evaluation.cases.clear();  // no other candidate is compared with the times of a wrong kernel
      return failure;
    }
    evaluation.stage = Stage::kTime;
  }
  evaluation.facts = Merge(evaluation.facts, program.images.front().loaded->facts());
  if (reverification.drawn()) {
    if (auto failure = reverification.Run(evaluation, program, gate_, channel_)) return failure;
  }
  return gate_.CheckProtected(false);
}

// On one case at least. It may become the champion, and its relatives share its mistakes.
bool CandidateEvaluation::IsFastest() const {
  return std::any_of(evaluation_->cases.begin(), evaluation_->cases.end(), [&](const CaseMeasurement& measured) {
    const auto bounds = request_.bounds.find(measured.name);
    return bounds == request_.bounds.end() || measured.median_ns < bounds->second.best_ns;
  });
}

void CandidateEvaluation::Enter(Stage stage) {
  evaluation_->stage = stage;
  channel_.Begin(stage, stage == Stage::kTime && context_.device.policy().pauses_compilers);
}

// The small case with every generator, which is cheap. Before it the inputs that have failed most candidates so far.
std::vector<Probe> CandidateEvaluation::FirstProbes() const {
  InputPool& inputs = context_.inputs;
  std::vector<Probe> probes;
  for (int g = 0; g < inputs.Generators(inputs.task().small); ++g) probes.push_back({&inputs.task().small, g, kRepeats});
  // The deadliest first, so it is moved to the front last.
  for (auto one = request_.first.rbegin(); one != request_.first.rend(); ++one) {
    if (!one->inputs.empty()) continue;
    const auto small = std::find_if(probes.begin(), probes.end(), [&](const Probe& probe) {
      return probe.sizes->name == one->case_name && probe.generator == one->generator;
    });
    if (small != probes.end()) std::rotate(probes.begin(), small, small + 1);
    for (const Case& sizes : inputs.search_cases()) {
      if (sizes.name == one->case_name && one->generator < inputs.SearchGenerators())
        probes.insert(probes.begin(), {&sizes, one->generator, 1});
    }
  }
  return probes;
}

// Most wrong candidates fail on the first inputs of the small case. The device is waited for once for the others together.
std::optional<Failure> CandidateEvaluation::CheckFirst(Program& program) {
  const std::vector<Probe> probes = FirstProbes();
  std::vector<const Probe*> others;
  std::vector<InputSet*> sets;
  bool small = false;
  for (const Probe& probe : probes) {
    if (small && probe.repeats == kRepeats) {
      others.push_back(&probe);
      sets.push_back(&context_.inputs.CheckedSet(*probe.sizes, probe.generator));
      continue;
    }
    small = small || probe.repeats == kRepeats;
    CheckedErrors errors;
    if (auto failure = Noted(checker_.Check(program, gate_, probe, errors), probe)) return failure;
  }
  CheckedErrors errors;
  auto failed =
      sets.empty() ? std::nullopt : checker_.CheckTogether(program, gate_, context_.inputs.task().small, sets, kRepeats, errors);
  if (!failed) return std::nullopt;
  if (!failed->program) return std::move(failed->failure);
  return Noted(std::move(failed->failure), *others[*failed->program]);
}

// Checks the case on the inputs that are timed, times it, then checks it on all other legal inputs: the small case has few
// elements, and some mistakes need an extreme one (an overflow without its guard, for example). A candidate that is clearly slow
// skips these checks; it cannot become the champion.
std::optional<Failure> CandidateEvaluation::CheckAndTime(Program& program, CaseOfProgram& one) {
  const Probe timed{&one.sizes, 0, context_.device.policy().timed_check_repeats};
  const auto check_start = std::chrono::steady_clock::now();
  auto failure = gate_.Check(one.bound.front(), timed.repeats, one.errors);
  const std::chrono::duration<double, std::nano> checked = std::chrono::steady_clock::now() - check_start;
  if (failure) return Noted(Located(*failure, one.sizes), timed);
  Enter(Stage::kTime);
  const auto found = request_.bounds.find(one.sizes.name);
  const auto bounds = found == request_.bounds.end() ? std::nullopt : std::optional(found->second);
  auto measured = context_.timer.Measure(one, gate_, bounds, checked.count() / timed.repeats);
  if (auto* failed = std::get_if<Failure>(&measured)) return Noted(*failed, timed);
  Enter(Stage::kCheck);
  CaseMeasurement& measurement = std::get<CaseMeasurement>(measured);
  for (int g = 1; g < context_.inputs.SearchGenerators() && !measurement.pruned; ++g) {
    const Probe probe{&one.sizes, g, 1};
    if ((failure = Noted(checker_.Check(program, gate_, probe, one.errors), probe))) return failure;
  }
  measurement.l2_error = one.errors.l2;
  measurement.max_error = one.errors.max;
  evaluation_->cases.push_back(std::move(measurement));
  evaluation_->stage = Stage::kTime;
  return std::nullopt;
}

std::optional<Failure> CandidateEvaluation::Noted(std::optional<Failure> failure, const Probe& probe) {
  if (failure) evaluation_->counterexample = {probe.sizes->name, probe.generator, context_.inputs.check_seed(), ""};
  return failure;
}

}  // namespace evo
