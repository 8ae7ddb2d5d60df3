#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/evaluator.h"

namespace evo {

struct ScheduledCandidate;

// Evaluations that need not be done again: by source, and by compiled program with its launch configuration. Holds what earlier
// runs of the database found under the same conditions, and what this run finds. A program is evaluated once: a second candidate
// with that program waits for the first. Not thread-safe: the owner locks.
class EvaluationCache {
 public:
  using Waiter = std::shared_ptr<ScheduledCandidate>;

  // Takes in what earlier runs found, except noisy, cancelled and timed-out evaluations.
  explicit EvaluationCache(std::vector<KnownEvaluation> known = {});

  // What an earlier run found for a source; null if there is nothing.
  const Evaluation* FindSource(const std::string& source_digest) const;

  enum class Claim { kYours, kKnown, kWait };
  struct Claimed {
    Claim claim;
    const Evaluation* evaluation = nullptr;  // kKnown: valid until the next call
  };
  // kYours: evaluate the program and call ResolveWaiters. kWait: a later ResolveWaiters returns the waiter. With `afresh`, what
  // earlier runs found does not count.
  Claimed ClaimProgram(const std::string& program_digest, const Waiter& waiter, bool afresh);

  struct Resolved {
    std::vector<Waiter> waiting;  // all of them if the evaluation is final; otherwise the one that has to evaluate it now
    bool final = true;
  };
  // `candidate` is the one that was evaluated.
  Resolved ResolveWaiters(const std::string& program_digest, CandidateId candidate, const Evaluation& evaluation);
  // Precondition: the program was resolved with a final evaluation.
  const Evaluation& Get(const std::string& program_digest) const { return *programs_.at(program_digest).known; }

 private:
  using Known = std::shared_ptr<const Evaluation>;  // the two maps share most of them
  struct Entry {
    Known known;  // null: being evaluated
    std::vector<Waiter> waiting;
  };
  std::map<std::string, Known> sources_;
  std::map<std::string, Entry> programs_;
};

}  // namespace evo
