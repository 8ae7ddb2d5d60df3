#pragma once

#include <optional>
#include <string>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/store.h"

namespace evo {

// Where a run stands.
struct Progress {
  int generation = 0;
  int generations = 0;  // asked for
  int evaluations = 0;  // asked for; 0: as many as the generations have
  int evaluated = 0;    // in this run, resumed part included
  int valid = 0;        // of those, kOk
  int duplicates = 0;
  double baseline_ns = kNoValue;
  CandidateId best = 0;  // the champion; while a generation is under way, the fastest seen; 0: none yet
  double best_ns = kNoValue;
  std::string best_template;
  int champion_changes = 0;  // times that a champion gave way to one that is faster by more than the noise
  double seconds = 0;        // since this process began the run
  double candidates_per_second = 0;
  double seconds_left = kNoValue;
};

// Hears what a run does. Called from the thread that runs it; must not throw.
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
