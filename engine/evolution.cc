#include "engine/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"

namespace evo {
namespace {

// After so many generations in a row without a new child the space is exhausted for the run's operators.
constexpr int kEmptyGenerations = 3;

bool IsOk(const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; }
bool IsCancelled(const Evaluation& evaluation) { return evaluation.outcome == Outcome::kCancelled; }

}  // namespace

Evolution::Evolution(EvolutionSettings settings, EvolutionParts parts)
    : settings_(std::move(settings)),
      parts_(parts),
      progress_(settings_.run.generations),
      reproduction_(settings_, parts_),
      champions_(settings_, parts_, progress_),
      elites_(settings_, parts_) {}

RunStatus Evolution::Run(const StopCondition& stop) {
  progress_.Begin(stop);
  parts_.observer.OnStarted(settings_.run, false);
  GenerationRecord first = reproduction_.Defaults(stop.search_token());
  StartEvaluating(first, stop);
  if (!FinishEvaluating(first, stop)) {
    progress_.UpdateRates(stop);
    return Close(RunStatus::kInterrupted, stop.Interrupted() ? "" : "time limit");
  }
  Record(first);
  RequireBaseline(first);
  Survive(first);
  GenerationRecord pending = reproduction_.Reproduce(1, stop);
  StartEvaluating(pending, stop);
  return Loop(std::move(pending), stop);
}

RunStatus Evolution::Resume(const StopCondition& stop) {
  return Resume(stop, [&](const std::function<void(GenerationRecord)>& visit) {
    for (GenerationRecord& record : parts_.store.LoadGenerations(settings_.run.id)) visit(std::move(record));
  });
}

RunStatus Evolution::Resume(const StopCondition& stop, const GenerationSource& generations) {
  std::optional<GenerationRecord> last = Absorb(generations);
  if (!last) return Run(stop);
  progress_.Begin(stop);
  parts_.observer.OnStarted(settings_.run, true);
  const bool lags = !IsAwaited(last->generation);
  if (!lags) {
    if (last->generation == 0) RequireBaseline(*last);
    Survive(*last);
  }
  GenerationRecord pending = reproduction_.Reproduce(last->generation + 1, stop);
  if (lags) Survive(*last);
  last.reset();
  StartEvaluating(pending, stop);
  return Loop(std::move(pending), stop);
}

// `pending` is being evaluated. Its children are bred meanwhile, from the population as it was before `pending`.
RunStatus Evolution::Loop(GenerationRecord pending, const StopCondition& stop) {
  while (GoesOn(stop)) {
    GenerationRecord children;
    const bool lags = !IsAwaited(pending.generation);
    if (lags) children = StartNext(pending.generation, stop);  // they compile while `pending` is timed
    if (!FinishEvaluating(pending, stop)) {
      KeepFinished(std::move(pending), stop);
      break;
    }
    if (!stop.SearchStopped()) pending.counted = parts_.evaluator.Count(elites_.ToCount(stop.search_token()), pending.generation);
    Record(pending);
    Survive(pending);
    Notify(stop);
    pending = lags ? std::move(children) : StartNext(pending.generation, stop);
  }
  DropStarted();
  return CheckAndClose(stop);
}

// Whether a generation is evaluated before the next one is bred: the templates, and the two that try each operator.
bool Evolution::IsAwaited(int generation) const {
  return generation == 0 || (generation <= 2 && parts_.selection != nullptr && parts_.selection->by_structure());
}

// The children after that generation, which are being evaluated; none after the last generation.
GenerationRecord Evolution::StartNext(int generation, const StopCondition& stop) {
  GenerationRecord children;
  if (generation >= settings_.run.generations) return children;
  Offspring offspring = reproduction_.Select(generation + 1);
  reproduction_.Breed(offspring, stop.search_token());
  reproduction_.DropSeen(offspring, stop);
  children = reproduction_.Rank(std::move(offspring), stop);
  StartEvaluating(children, stop);
  return children;
}

bool Evolution::GoesOn(const StopCondition& stop) const {
  return !stop.Reached(progress().generation) && stop.Allowed(progress_.evolved(), 1) > 0 &&
         empty_generations_ < kEmptyGenerations;
}

void Evolution::StartEvaluating(const GenerationRecord& generation, const StopCondition& stop) {
  // Its result would not be used.
  if (stop.SearchStopped()) return;
  parts_.evaluator.Start(generation.candidates);
  ++started_;
}

// Of a generation that the time limit ended, what was evaluated counts: a search of few candidates may have no other. A run that
// was interrupted goes on with the whole generation.
void Evolution::KeepFinished(GenerationRecord generation, const StopCondition& stop) {
  if (stop.Interrupted()) return;
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;
  for (std::size_t i = 0; i < generation.evaluations.size(); ++i) {
    if (IsCancelled(generation.evaluations[i])) continue;
    candidates.push_back(std::move(generation.candidates[i]));
    evaluations.push_back(std::move(generation.evaluations[i]));
  }
  if (candidates.empty()) return;
  generation.candidates = std::move(candidates);
  generation.evaluations = std::move(evaluations);
  Record(generation);
  Survive(generation);
  Notify(stop);
}

// False if the generation was not finished.
bool Evolution::FinishEvaluating(GenerationRecord& generation, const StopCondition& stop) {
  if (started_ == 0) return false;
  progress_.BeginGeneration(generation.generation);
  generation.evaluations =
      parts_.evaluator.Finish(stop.search_token(), [&](const Candidate& candidate, const Evaluation& evaluation) {
        parts_.observer.OnEvaluated(candidate, evaluation, progress_.CountEvaluated(candidate, evaluation, stop));
      });
  --started_;
  const bool complete = std::none_of(generation.evaluations.begin(), generation.evaluations.end(), IsCancelled);
  // An evaluator that stops drops everything that was started.
  if (!complete) started_ = 0;
  return complete;
}

// The run ends, and the generation that was to come after the last one is not evaluated.
void Evolution::DropStarted() {
  if (std::exchange(started_, 0) == 0) return;
  std::stop_source now;
  now.request_stop();
  parts_.evaluator.Finish(now.get_token(), {});
}

// The store counts the generations of minimisation's trials as well.
void Evolution::Record(GenerationRecord generation) {
  generation.generation += champions_.trial_generations();
  for (Candidate& candidate : generation.candidates) candidate.generation = generation.generation;
  parts_.store.RecordGeneration(settings_.run.id, generation);
}

// Decides which candidates may breed from now on, and learns everything else that this generation says.
void Evolution::Survive(const GenerationRecord& generation) {
  const std::vector<Candidate>& candidates = generation.candidates;
  const std::vector<Evaluation>& evaluations = generation.evaluations;
  const bool without_baseline =
      settings_.baseline_apart && generation.generation == 0 && std::any_of(evaluations.begin() + 1, evaluations.end(), IsOk);
  if (without_baseline)
    parts_.population.Survive({candidates.begin() + 1, candidates.end()}, {evaluations.begin() + 1, evaluations.end()});
  else
    parts_.population.Survive(candidates, evaluations);
  progress_.Learn(generation);
  reproduction_.Learn(generation);
  champions_.Learn(generation);
  elites_.Learn(generation);
  empty_generations_ = candidates.empty() ? empty_generations_ + 1 : 0;
}

void Evolution::Notify(const StopCondition& stop) {
  progress_.UpdateRates(stop);
  parts_.observer.OnGeneration(progress());
}

// Learns all generations but the last of the evolution, which it gives back. They count as if there were no trials of
// minimisation among them.
std::optional<GenerationRecord> Evolution::Absorb(const GenerationSource& generations) {
  std::optional<GenerationRecord> last;
  generations([&](GenerationRecord record) {
    reproduction_.Reserve(record);
    if (IsTrial(record)) {
      progress_.Learn(record);
      champions_.Learn(record);
      return;
    }
    record.generation -= champions_.trial_generations();
    if (last) Survive(*last);
    last = std::move(record);
  });
  return last;
}

void Evolution::RequireBaseline(const GenerationRecord& first) const {
  const Evaluation& evaluation = first.evaluations.front();
  if (IsOk(evaluation)) return;
  const std::string message = fmt::format("the baseline {} does not pass: {} in stage {}: {}", settings_.run.baseline,
                                          ToString(evaluation.outcome), ToString(evaluation.stage), evaluation.message);
  parts_.store.EndRun(settings_.run.id, RunStatus::kFailed, message);
  throw Error(message + "; fix the template or the task before evolving it");
}

RunStatus Evolution::CheckAndClose(const StopCondition& stop) {
  progress_.UpdateRates(stop);
  if (stop.Interrupted()) return Close(RunStatus::kInterrupted, "");
  champions_.Check(stop);
  progress_.UpdateRates(stop);
  if (stop.Interrupted()) return Close(RunStatus::kInterrupted, "");
  std::string message = empty_generations_ >= kEmptyGenerations ? "nothing new to try" : stop.TimeOver() ? "time limit" : "";
  if (const std::string choices = parts_.choice.Summary(); !choices.empty()) message += (message.empty() ? "" : "; ") + choices;
  return Close(RunStatus::kFinished, message);
}

RunStatus Evolution::Close(RunStatus status, const std::string& message) {
  parts_.store.EndRun(settings_.run.id, status, message);
  Progress last = progress();
  last.ended_by = message;
  parts_.observer.OnFinished(status, last);
  return status;
}

}  // namespace evo
