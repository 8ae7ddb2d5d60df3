#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/evaluator.h"

namespace evo {

// Evaluations that need not be done again: by source, and by compiled program with its launch configuration. Holds what earlier
// runs of the database found under the same conditions, and what this run finds. A program that is being evaluated is waited for,
// not evaluated beside it. Not thread-safe: its owner locks.
class EvaluationCache {
 public:
  using Ticket = std::size_t;  // whatever the owner calls the candidate that asks

  // Adds what earlier runs found.
  void Add(std::vector<KnownEvaluation> known);

  // Of an earlier run; null if there is none.
  const Evaluation* FindSource(const std::string& source_digest) const;

  enum class Claim { kYours, kKnown, kWait };
  struct Claimed {
    Claim claim;
    const Evaluation* evaluation = nullptr;  // kKnown: valid until the next call
  };
  // kYours: evaluate it and call ResolveWaiters. kWait: ResolveWaiters will name the ticket. With `afresh`, earlier runs do not
  // count.
  Claimed ClaimProgram(const std::string& program_digest, Ticket ticket, bool afresh);

  struct Resolved {
    std::vector<Ticket> waiting;  // all of them if the evaluation is final; otherwise the one that has to do it now
    bool final = true;
  };
  // `candidate` is the one that was evaluated.
  Resolved ResolveWaiters(const std::string& program_digest, CandidateId candidate, const Evaluation& evaluation);
  // Precondition: the program was resolved with a final evaluation.
  const Evaluation& Get(const std::string& program_digest) const { return programs_.at(program_digest).evaluation; }

 private:
  struct Entry {
    bool known = false;
    Evaluation evaluation;
    std::vector<Ticket> waiting;
  };
  std::map<std::string, Evaluation> sources_;
  std::map<std::string, Entry> programs_;
};

}  // namespace evo
