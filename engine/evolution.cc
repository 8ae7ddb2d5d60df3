#include "engine/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "engine/champion.h"
#include "engine/trial_runner.h"

namespace evo {
namespace {

// Generations in a row without a new child: the space is exhausted for these operators.
constexpr int kEmptyGenerations = 3;

}  // namespace

Evolution::Evolution(RunRecord run, std::vector<Genome> seeds, Breeder& breeder, Evaluator& evaluator, Store& store,
                     Observer& observer, Population& population, ChildRanker* ranker, OperatorSelection* selection)
    : run_(std::move(run)),
      seeds_(std::move(seeds)),
      breeder_(breeder),
      evaluator_(evaluator),
      store_(store),
      observer_(observer),
      population_(population),
      ranker_(ranker),
      selection_(selection) {
  progress_.generations = run_.generations;
}

void Evolution::RestrictTo(const RecordedEvaluations& recorded, Missing missing) {
  recorded_ = &recorded;
  missing_ = missing;
}

RunStatus Evolution::Run(const StopCondition& stop) {
  progress_.evaluations = stop.evaluations().value_or(0);
  observer_.OnStarted(run_, false);
  Generation first = Default(stop.token());
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  StartEvaluating(first, stop);
  if (!Evaluate(first, stop)) return Finish(RunStatus::kInterrupted, "");
  Record(first);
  RequireBaseline(first);
  Absorb(first);
  StartBreeding(1);
  Generation pending = FinishBreeding(1, stop);
  StartEvaluating(pending, stop);
  return Loop(stop, std::move(pending));
}

RunStatus Evolution::Resume(const StopCondition& stop) {
  const std::vector<GenerationRecord> history = LoadHistory();
  if (history.empty()) return Run(stop);
  progress_.evaluations = stop.evaluations().value_or(0);
  for (const GenerationRecord& record : history) made_ += record.candidates.size();
  observer_.OnStarted(run_, true);
  for (std::size_t g = 0; g + 1 < history.size(); ++g) Absorb({history[g]});
  const Generation last{history.back()};
  for (const Evaluation& evaluation : last.record.evaluations) seen_.insert(evaluation.source_digest);
  if (!last.empty()) next_id_ = std::max(next_id_, last.record.candidates.back().id + 1);
  const int next = last.record.generation + 1;
  // The first generation was bred after generation 0, the others one generation behind.
  if (next == 1) {
    RequireBaseline(last);
    Absorb(last);
  }
  StartBreeding(next);
  Generation pending = FinishBreeding(next, stop);
  if (next > 1) Absorb(last);
  StartEvaluating(pending, stop);
  return Loop(stop, std::move(pending));
}

RunStatus Evolution::Loop(const StopCondition& stop, Generation pending) {
  while (!stop.Reached(progress_.generation) && stop.Allowed(absorbed_, 1) > 0 && empty_generations_ < kEmptyGenerations) {
    const int next = pending.record.generation + 1;
    const bool breed = next <= run_.generations;
    if (breed) StartBreeding(next);
    Generation children = breed ? FinishBreeding(next, stop) : Generation{};
    // They compile while this generation is timed.
    if (breed) StartEvaluating(children, stop);
    if (!Evaluate(pending, stop)) break;
    Record(pending);
    Absorb(pending);
    UpdateRates(stop);
    observer_.OnGeneration(progress_);
    pending = std::move(children);
  }
  DropStarted();
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  UpdateRates(stop);
  CheckChampion(stop);
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  std::string message = empty_generations_ >= kEmptyGenerations ? "nothing new to try" : stop.TimeOver() ? "time limit" : "";
  if (recorded_ != nullptr)
    message += fmt::format("{}replayed; {} of {} children were not recorded", message.empty() ? "" : "; ", unrecorded_, bred_);
  return Finish(RunStatus::kFinished, message);
}

void Evolution::StartEvaluating(const Generation& generation, const StopCondition& stop) {
  // After an interruption nobody would ask for the result.
  if (stop.Interrupted()) return;
  evaluator_.Start(generation.record.candidates);
  ++started_;
}

// The generation that was to come after the last one.
void Evolution::DropStarted() {
  if (std::exchange(started_, 0) == 0) return;
  std::stop_source now;
  now.request_stop();
  evaluator_.Finish(now.get_token(), {});
}

// False if the generation was not finished; then nothing of it is kept.
bool Evolution::Evaluate(Generation& generation, const StopCondition& stop) {
  if (started_ == 0) return false;
  Progress running = progress_;
  running.generation = generation.record.generation;
  generation.record.evaluations = evaluator_.Finish(stop.token(), [&](const Candidate& candidate, const Evaluation& evaluation) {
    ++running.evaluated;
    ++evaluated_here_;
    if (evaluation.outcome == Outcome::kOk) {
      ++running.valid;
      if (!(running.best_ns <= evaluation.score_ns)) {
        running.best = candidate.id;
        running.best_ns = evaluation.score_ns;
        running.best_template = candidate.genome.template_name;
      }
    }
    running.seconds = stop.Elapsed().count();
    running.candidates_per_second = evaluated_here_ / std::max(running.seconds, 1e-3);
    observer_.OnEvaluated(candidate, evaluation, running);
  });
  --started_;
  const bool complete = std::none_of(generation.record.evaluations.begin(), generation.record.evaluations.end(),
                                     [](const Evaluation& e) { return e.outcome == Outcome::kCancelled; });
  // What is stopped is stopped with all that was started.
  if (!complete) started_ = 0;
  return complete;
}

void Evolution::Record(const Generation& generation) {
  GenerationRecord record = generation.record;
  record.generation += static_cast<int>(trials_.size());
  for (Candidate& candidate : record.candidates) candidate.generation = record.generation;
  store_.RecordGeneration(run_.id, record);
}

// The generations of the evolution, counted as if there had been no others.
std::vector<GenerationRecord> Evolution::LoadHistory() {
  std::vector<GenerationRecord> history;
  for (GenerationRecord& record : store_.LoadGenerations(run_.id)) {
    if (!IsTrial(record)) {
      record.generation -= static_cast<int>(trials_.size());
      history.push_back(std::move(record));
      continue;
    }
    progress_.evaluated += static_cast<int>(record.candidates.size());
    for (const Evaluation& evaluation : record.evaluations) progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
    last_id_ = record.candidates.back().id;
    next_id_ = std::max(next_id_, last_id_ + 1);
    trials_.push_back(std::move(record));
  }
  return history;
}

// Who may breed from now on.
void Evolution::Survive(const GenerationRecord& record) {
  const bool apart = baseline_apart_ && record.generation == 0 &&
                     std::any_of(record.evaluations.begin() + 1, record.evaluations.end(),
                                 [](const Evaluation& e) { return e.outcome == Outcome::kOk; });
  if (!apart) return population_.Survive(record.candidates, record.evaluations);
  population_.Survive({record.candidates.begin() + 1, record.candidates.end()},
                      {record.evaluations.begin() + 1, record.evaluations.end()});
}

// Survival and everything that is known because of this generation.
void Evolution::Absorb(const Generation& generation) {
  const GenerationRecord& record = generation.record;
  Survive(record);
  if (selection_ != nullptr) selection_->Learn(record);
  neutral_.Learn(record);
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    seen_.insert(record.evaluations[i].source_digest);
    if (ranker_ != nullptr) ranker_->Learn(record.candidates[i].genome, record.evaluations[i]);
    last_id_ = std::max(last_id_, record.candidates[i].id);
    next_id_ = std::max(next_id_, last_id_ + 1);
    ++progress_.evaluated;
    ++absorbed_;
    if (record.evaluations[i].outcome != Outcome::kOk) continue;
    ++progress_.valid;
    Challenge(record.candidates[i], record.evaluations[i]);
    const Individual individual{record.candidates[i], record.evaluations[i].score_ns, record.evaluations[i].clocks.compile_ms};
    const auto best = best_of_template_.try_emplace(individual.candidate.genome.template_name, individual).first;
    if (Precedes(individual, best->second)) best->second = individual;
  }
  if (record.generation == 0) {
    baseline_ = record.candidates.front();
    progress_.baseline_ns = record.evaluations.front().score_ns;
  }
  empty_generations_ = generation.empty() ? empty_generations_ + 1 : 0;
  progress_.generation = record.generation;
  progress_.duplicates += record.duplicates;
  if (champion_) {
    progress_.best = champion_->first.id;
    progress_.best_ns = champion_->second.score_ns;
    progress_.best_template = champion_->first.genome.template_name;
  }
}

// In the order of ids, so that it does not matter who was evaluated first.
void Evolution::Challenge(const Candidate& candidate, const Evaluation& evaluation) {
  if (champion_ && !Beats(evaluation, champion_->second)) return;
  if (champion_) ++progress_.champion_changes;
  champion_.emplace(candidate, evaluation);
}

void Evolution::RequireBaseline(const Generation& first) const {
  const Evaluation& evaluation = first.record.evaluations.front();
  if (evaluation.outcome == Outcome::kOk) return;
  const std::string message = fmt::format("the baseline {} does not pass: {} in stage {}: {}", run_.baseline,
                                          ToString(evaluation.outcome), ToString(evaluation.stage), evaluation.message);
  store_.EndRun(run_.id, RunStatus::kFailed, message);
  throw Error(message + "; mend the template or the task before evolving it");
}

void Evolution::UpdateRates(const StopCondition& stop) {
  progress_.seconds = stop.Elapsed().count();
  progress_.candidates_per_second = evaluated_here_ / std::max(progress_.seconds, 1e-3);
  const int done = std::max(1, progress_.generation);
  progress_.seconds_left = progress_.seconds / done * (run_.generations - progress_.generation);
  if (progress_.evaluations > 0) {
    const int left = std::max(0, progress_.evaluations - static_cast<int>(absorbed_));
    progress_.seconds_left = std::min(progress_.seconds_left, progress_.seconds / std::max(1, evaluated_here_) * left);
  }
  if (const auto limit = stop.time_limit()) {
    progress_.seconds_left =
        std::min(progress_.seconds_left, std::max(0.0, static_cast<double>(limit->count()) - progress_.seconds));
  }
}

RunStatus Evolution::Finish(RunStatus status, const std::string& message) {
  store_.EndRun(run_.id, status, message);
  observer_.OnFinished(status, progress_);
  return status;
}

}  // namespace evo
