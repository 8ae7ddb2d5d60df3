#pragma once

#include <cstddef>

#include "core/observer.h"
#include "core/store.h"
#include "engine/stop_condition.h"

namespace evo {

// Counts and times everything that a run's Progress says.
class ProgressTracker {
 public:
  explicit ProgressTracker(int generations) { progress_.generations = generations; }

  const Progress& progress() const { return progress_; }
  // Candidates of the evolution that were learnt so far; trials of minimisation are left out.
  std::size_t evolved() const { return evolved_; }

  // The run starts or goes on, until `stop`.
  void Begin(const StopCondition& stop) { progress_.evaluations = stop.evaluations().value_or(0); }
  // A generation is under way from here on, as CountEvaluated reports.
  void BeginGeneration(int generation);
  // A candidate of the generation under way was evaluated. Gives the progress with it, as if the generation ended here.
  const Progress& CountEvaluated(const Candidate& candidate, const Evaluation& evaluation, const StopCondition& stop);
  // A generation is complete. Earlier processes' generations count as well, their trials of minimisation too.
  void Learn(const GenerationRecord& record);
  // A trial of minimisation was evaluated in this process.
  void CountTrial(const Evaluation& evaluation, const StopCondition& stop);

  // The evolution has a first champion, or a faster one that takes its place.
  void ChangeChampion(const Candidate& champion, double score_ns);
  // The champion's check or its minimisation decided for this candidate.
  void DecideBest(const Candidate& best, double score_ns);

  // Seconds, candidates per second and what is left, as of now.
  void UpdateRates(const StopCondition& stop);

 private:
  Progress progress_;
  Progress under_way_;  // progress_ with what is known of the generation under way
  std::size_t evolved_ = 0;
  int evaluated_here_ = 0;  // in this process, for the rate
};

}  // namespace evo
