#include "engine/progress_tracker.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/trial_runner.h"

namespace evo {
namespace {

// The clock may not have moved yet.
constexpr double kLeastSeconds = 1e-3;

double SecondsTo(std::chrono::seconds limit, double seconds) {
  return std::max(0.0, static_cast<double>(limit.count()) - seconds);
}

}  // namespace

void ProgressTracker::BeginGeneration(int generation) {
  under_way_ = progress_;
  under_way_.generation = generation;
}

const Progress& ProgressTracker::CountEvaluated(const Candidate& candidate, const Evaluation& evaluation,
                                                const StopCondition& stop) {
  ++under_way_.evaluated;
  ++evaluated_here_;
  if (evaluation.outcome == Outcome::kOk) {
    ++under_way_.valid;
    // Negated, so that the first of all is the best: there is no time to compare it with.
    if (!(under_way_.best_ns <= evaluation.score_ns)) {
      under_way_.best = candidate.id;
      under_way_.best_ns = evaluation.score_ns;
      under_way_.best_template = candidate.genome.template_name;
    }
  }
  under_way_.seconds = stop.Elapsed().count();
  under_way_.candidates_per_second = evaluated_here_ / std::max(under_way_.seconds, kLeastSeconds);
  // What was left at the end of the generation before, less what has passed since. NaN stays: it is the first argument.
  under_way_.seconds_left = std::max(progress_.seconds_left - (under_way_.seconds - progress_.seconds), 0.0);
  if (const auto limit = stop.time_limit())
    under_way_.seconds_left = std::fmin(under_way_.seconds_left, SecondsTo(*limit, under_way_.seconds));
  return under_way_;
}

void ProgressTracker::Learn(const GenerationRecord& record) {
  progress_.evaluated += static_cast<int>(record.candidates.size());
  for (const Evaluation& evaluation : record.evaluations) progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
  if (IsTrial(record)) return;
  evolved_ += record.candidates.size();
  if (record.generation == 0) progress_.baseline_ns = record.evaluations.front().score_ns;
  progress_.generation = record.generation;
  progress_.duplicates += record.duplicates;
}

void ProgressTracker::CountTrial(const Evaluation& evaluation, const StopCondition& stop) {
  ++progress_.evaluated;
  ++evaluated_here_;
  progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
  UpdateRates(stop);
}

void ProgressTracker::ChangeChampion(const Candidate& champion, double score_ns) {
  if (progress_.best != 0) ++progress_.champion_changes;
  DecideBest(champion, score_ns);
}

void ProgressTracker::DecideBest(const Candidate& best, double score_ns) {
  progress_.best = best.id;
  progress_.best_ns = score_ns;
  progress_.best_template = best.genome.template_name;
}

void ProgressTracker::UpdateRates(const StopCondition& stop) {
  progress_.seconds = stop.Elapsed().count();
  progress_.candidates_per_second = evaluated_here_ / std::max(progress_.seconds, kLeastSeconds);
  const int done = std::max(1, progress_.generation);
  progress_.seconds_left = progress_.seconds / done * (progress_.generations - progress_.generation);
  if (progress_.evaluations > 0) {
    const int left = std::max(0, progress_.evaluations - static_cast<int>(evolved_));
    progress_.seconds_left = std::min(progress_.seconds_left, progress_.seconds / std::max(1, evaluated_here_) * left);
  }
  if (const auto limit = stop.time_limit())
    progress_.seconds_left = std::min(progress_.seconds_left, SecondsTo(*limit, progress_.seconds));
}

}  // namespace evo
