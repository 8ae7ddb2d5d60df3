#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/scheduling/retries.h"
#include "evaluator/workers/announced_run.h"

namespace evo {

struct Batch;

// A candidate on its way through the workers. Used by one thread at a time.
struct ScheduledCandidate {
  Candidate candidate;
  Evaluation evaluation;
  CompileResult compiled;
  Retries retries;
  std::vector<AvoidedInputs> avoided;  // where the baseline died although this candidate may be the cause
  std::string claim;                   // what it was claimed by in the cache: its program, in a trial also whose and which
  bool claimed = false;                // it is evaluated for all that have the same claim
  Batch* batch = nullptr;              // that it belongs to
};

// Keeps the whole batch alive.
using ScheduledPointer = std::shared_ptr<ScheduledCandidate>;

// Candidates that were started together.
struct Batch {
  std::vector<ScheduledCandidate> candidates;
  std::vector<const ScheduledCandidate*> finished;  // in the order in which they finished

  bool all_finished() const { return finished.size() == candidates.size(); }
};

}  // namespace evo
