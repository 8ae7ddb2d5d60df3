#pragma once

#include <optional>
#include <string>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/store.h"

namespace evo {

// The state of a run.
struct Progress {
  int generation = 0;
  int generations = 0;  // requested
  int evaluations = 0;  // requested limit; 0: none
  int evaluated = 0;    // in this run, also before it was resumed
  int valid = 0;        // of the evaluated ones, kOk
  int duplicates = 0;
  double baseline_ns = kNoValue;
  CandidateId best = 0;  // the champion, or the fastest so far during a generation; 0: none yet
  double best_ns = kNoValue;
  std::string best_template;
  int champion_changes = 0;  // how often a new champion was faster by more than the noise
  double seconds = 0;        // since this process began or resumed the run
  double candidates_per_second = 0;
  double seconds_left = kNoValue;
  std::string ended_by;  // why the run ended before its generations were done: "time limit", "nothing new to try"
};

// Is told what a run does, on the thread that runs it. The functions must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnStarted(const RunRecord& run, bool resumed) = 0;
  virtual void OnEvaluated(const Candidate& candidate, const Evaluation& evaluation, const Progress& progress) = 0;
  virtual void OnGeneration(const Progress& progress) = 0;
  virtual void OnChampion(const Candidate& champion, const ChampionCheck& check) = 0;
  virtual void OnFinished(RunStatus status, const Progress& progress) = 0;
};

}  // namespace evo
