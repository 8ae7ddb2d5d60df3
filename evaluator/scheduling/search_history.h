#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/store.h"
#include "evaluator/scheduling/deadlines.h"
#include "evaluator/scheduling/race_bounds.h"
#include "evaluator/workers/announced_run.h"

namespace evo {

// What earlier runs and earlier generations of this run have found.
struct PriorKnowledge {
  std::vector<KnownEvaluation> known;  // need not be evaluated again; a run measures its own generation 0 all the same
  // Of this run, if it is resumed: they give deadlines and the race's bounds. Null or valid until they are learnt.
  const std::vector<GenerationRecord>* generations = nullptr;
  std::vector<Counterexample> counterexamples;  // that earlier runs of the task have found
};

// What the evaluations of this run say about the next ones. Not thread-safe: the owner locks.
struct SearchHistory {
  Deadlines deadlines;
  RaceBounds bounds;
  std::vector<AvoidedInputs> avoided;  // where the baseline died before a candidate was there

  void Learn(const Candidate& candidate, const Evaluation& evaluation) {
    deadlines.Learn(candidate, evaluation);
    bounds.Learn(evaluation);
  }
  // Passes over evaluations made on another device.
  void Learn(const std::vector<GenerationRecord>& generations, const std::string& device_name) {
    for (const GenerationRecord& generation : generations) {
      for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
        if (generation.evaluations[i].device_name == device_name) Learn(generation.candidates[i], generation.evaluations[i]);
      }
    }
  }
};

}  // namespace evo
