#include "evaluator/session/run_session.h"

#include <fmt/format.h>

#include <utility>

#include "core/diagnosis.h"
#include "core/digest.h"
#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/session/bare_inputs.h"
#include "evaluator/session/block_check.h"
#include "evaluator/session/candidate_evaluation.h"
#include "evaluator/session/event_count.h"
#include "evaluator/session/hard_input_check.h"
#include "evaluator/session/held_out_check.h"
#include "evaluator/session/survey_task.h"
#include "evaluator/timer/machine_check.h"
#include "kernel_templates/task_shape.h"

namespace evo {

RunSession::RunSession(std::unique_ptr<Device> device, std::function<bool()> jobs_wait,
                       std::chrono::milliseconds reverification_time, std::unique_ptr<Reference> python)
    : device_(std::move(device)),
      jobs_wait_(std::move(jobs_wait)),
      reverification_time_(reverification_time),
      cache_(*device_, std::move(python)) {}

void RunSession::Setup(const SetupRequest& request) {
  Task task = ParseTask(request.task_json, request.task_reference, request.task_directory);
  cache_.Use(task, request.reference.source, request.reference.program, request.recorded);
  l2_ = request.l2 == "cold" ? "cold" : "hot";
  MachineState measured;
  for (std::size_t i = 0; i < request.machines.size(); ++i) {
    const MachineState& machine = request.machines[i];
    // On several hosts, GPUs have the same numbers.
    const bool own = i < request.uuids.size() ? request.uuids[i] == info().uuid : machine.ordinal == info().ordinal;
    if (own) measured = machine;
  }
  diagnosed_ = {measured, info().arch, info().multiprocessors, l2_ == "cold", IsHalf(ArithmeticOf(task))};
  legal_.emplace(*device_, cache_, task, request.baseline);
  inputs_.emplace(*device_, cache_, std::move(task), request.seeds);
  timer_.emplace(*device_, *inputs_, TimedL2(), std::move(measured), jobs_wait_);
  if (!request.draws_ahead) return;
  if (request.only_counts)
    inputs_->DrawUnanswered(CaseToCount(*inputs_));
  else
    inputs_->Draw();
}

SessionContext RunSession::Context() { return {*device_, inputs_.value(), legal_.value(), timer_.value(), jobs_wait_}; }

void RunSession::PlaceInputs(WorkerChannel& channel, std::size_t battery, const std::vector<Counterexample>& known,
                             const std::vector<AvoidedInputs>& avoided) {
  channel.Begin(Stage::kPrepare);
  inputs_.value().Place();
  channel.Begin(Stage::kPrepare);
  legal_.value().baseline_runs().Start([&channel](const AnnouncedRun& run) { channel.Announce(run); }, avoided);
  try {
    PlaceHardInputs(Context(), battery, known, [&channel] { channel.Begin(Stage::kPrepare); });
  } catch (const InfrastructureFailure&) {
    must_restart_ = true;  // the baseline may have left the device unusable
    throw;
  }
}

Evaluation RunSession::Evaluate(const EvaluateRequest& request, WorkerChannel& channel) {
  PlaceInputs(channel, BatteryOfSearch(device_->policy()), request.first, request.avoided);
  Evaluation evaluation;
  evaluation.device = info().kind;
  evaluation.device_name = info().name;
  evaluation.l2 = l2_;
  evaluation.image_digest = ImageDigest(request.candidate.program);
  evaluation.source_digest = Digest(request.candidate.source);
  evaluation.facts = request.facts;
  const SessionContext context = Context();
  try {
    if (auto failure = CandidateEvaluation(context, request, channel).Run(evaluation, reverification_time_)) {
      evaluation.outcome = failure->outcome;
      evaluation.message = failure->message;
      NoteContamination(*failure);
    } else {
      evaluation.outcome = Outcome::kOk;
      evaluation.score_ns = Score(evaluation.cases);
      Diagnosis diagnosis = Diagnose(evaluation, diagnosed_);
      evaluation.bottleneck = diagnosis.bottleneck;
      evaluation.evidence = std::move(diagnosis.evidence);
    }
  } catch (const InfrastructureFailure&) {
    must_restart_ = true;  // an earlier candidate may have left the device like this: the next attempt has a process of its own
    throw;
  }
  return evaluation;
}

ChampionCheck RunSession::CheckChampion(const ChampionRequest& request, WorkerChannel& channel) {
  PartTimes times;
  times.Begin("inputs");
  PlaceInputs(channel, 0, request.first, request.avoided);
  ChampionCheck check;
  check.reference = NameOfReference(inputs_.value().task());
  const SessionContext context = Context();
  if (auto failure = HeldOutCheck(context, request, channel, times).Run(check)) {
    check.outcome = failure->outcome;
    check.message = failure->message;
    NoteContamination(*failure);
  } else {
    check.outcome = Outcome::kOk;
    check.candidate_ns = Score(check.candidate);
    check.baseline_ns = Score(check.baseline);
    check.speedup = check.baseline_ns / check.candidate_ns;
  }
  if (const double ms = inputs_.value().ReferenceMilliseconds(); ms > 0) check.reference_ms = ms;
  check.took = times.Text();
  return check;
}

BaselineResult RunSession::TryBaseline(const BaselineRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kHeldOut);
  LegalInputs& legal = legal_.value();
  legal.baseline_runs().Start([&channel](const AnnouncedRun& run) { channel.Announce(run); }, {});
  const Task& task = inputs_.value().task();
  const auto sizes = FindCase(task, request.on.case_name);
  if (!sizes) return {"the task has no such case"};
  const LegalInputs::Made made = request.on.inputs.empty()
                                     ? legal.MakeOfSizes(*sizes, request.on.seed)
                                     : legal.Make(*sizes, ParseInputProgram(request.on.inputs, request.on.seed, task));
  const auto* left_out = std::get_if<LeftOut>(&made);
  return {left_out == nullptr ? "" : left_out->reason};
}

TaskSurvey RunSession::Survey(const SurveyRequest& request, WorkerChannel& channel) {
  must_restart_ = true;
  legal_.value().baseline_runs().Start([&channel](const AnnouncedRun& run) { channel.Announce(run); }, request.avoided);
  return SurveyTask(Context(), channel);
}

ReferenceCost RunSession::TimeReference(WorkerChannel& channel) {
  // The first answer of an interpreter takes longer than the others.
  constexpr int kTimed = 3;
  InputPool& inputs = inputs_.value();
  for (int i = 0; i < kTimed; ++i) {
    channel.Begin(Stage::kPrepare);
    inputs.MakeSmall(0, inputs.check_seed());
  }
  const auto hard = [&](std::size_t most) {
    return LegalInputs::kAnswers * static_cast<std::int64_t>(inputs.SmallBattery(most).size());
  };
  const std::size_t searched = BatteryOfSearch(device_->policy());
  ReferenceCost cost{inputs.ReferenceMilliseconds(), static_cast<std::int64_t>(inputs.Sets()), 0};
  cost.check_answers = cost.first_answers + hard(0) + hard(searched) + static_cast<std::int64_t>(inputs.SizesToTry().size());
  for (const Case& sizes : inputs.held_out_cases()) cost.check_answers += inputs.Generators(sizes);
  cost.first_answers += hard(searched);
  return cost;
}

MachineState RunSession::Measure(const MachineRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kMeasure);
  const LoadResult loaded = device_->Load(request.kernels.program, 1);
  if (!loaded.status.ok())
    throw InfrastructureFailure(fmt::format("our own kernels do not load on {}: {}", info().name, loaded.status.message));
  auto measured = MeasureMachine(*device_, *loaded.program);
  if (const auto* failure = std::get_if<Failure>(&measured))
    throw InfrastructureFailure(fmt::format("{}: {}", info().name, failure->message));
  return std::get<MachineState>(measured);
}

// A tool that has watched nothing would call a program clean that did not run: then the device failed.
std::string RunSession::RunOnce(const SmallCaseRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kLoad);
  auto loaded = LoadProgram(*device_, request.candidate.source, request.candidate.program);
  if (auto* failure = std::get_if<Failure>(&loaded)) throw InfrastructureFailure(failure->message);
  channel.Begin(Stage::kCheck);
  InputPool& inputs = inputs_.value();
  for (const Case& sizes : inputs.search_cases()) {
    if (sizes.name != request.search_case) continue;
    const auto failure = RunBare(*device_, std::get<Program>(loaded), inputs.task(), sizes, inputs.check_seed());
    if (failure) throw InfrastructureFailure(failure->message);
    return "";
  }
  Gate gate(*device_, inputs.task().determinism);
  CheckedErrors errors;
  const Probe probe{&inputs.task().small, 0, 1};
  const auto failure = ProgramChecker(*device_, inputs).Check(std::get<Program>(loaded), gate, probe, errors);
  if (!failure) return "";
  const bool ran = failure->outcome == Outcome::kWrongResult || failure->outcome == Outcome::kNondeterministic ||
                   failure->outcome == Outcome::kCheating;
  if (!ran) throw InfrastructureFailure(failure->message);
  return failure->message;
}

CountedEvents RunSession::CountEvents(const CountRequest& request, WorkerChannel& channel) {
  CountedEvents counted = EventCount(*device_, inputs_.value(), TimedL2(), channel).Run(request);
  if (!request.baseline.program.image.empty() || !counted.not_counted.empty()) must_restart_ = true;
  return counted;
}

ToolResult RunSession::SampleBlocks(const BlockSampleRequest& request, WorkerChannel& channel) {
  constexpr std::chrono::milliseconds kTime{5000};
  must_restart_ = true;
  channel.Begin(Stage::kCheck);
  const Task task = ParseTask(request.task_json, request.task_reference, request.task_directory);
  BlockCheck blocks(*device_, task, request.seed, kTime, [&](const Case& sizes) {
    channel.Announce({{sizes.name, 0, request.seed, ""}});
  });
  blocks.Run(request.checked, SearchCases(task, CaseScale::kGpu));
  return blocks.result();
}

// A candidate that may have written outside its buffers leaves a process in which no later candidate should be judged.
void RunSession::NoteContamination(const Failure& failure) {
  if (failure.sticky || failure.outcome == Outcome::kCheating || failure.outcome == Outcome::kCrash) must_restart_ = true;
}

}  // namespace evo
