#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/evaluation.h"
#include "evaluator/messages/requests.h"

namespace evo {

// What evaluations so far tell about how to run the next candidate: the fastest time of each case, and the inputs that failed
// most candidates. Not thread-safe: the owner locks.
class RaceBounds {
 public:
  void Learn(const Evaluation& evaluation);
  // By case: times beyond which a candidate needs no precise figure.
  std::map<std::string, CaseBounds> ByCase() const;
  // Counts one more failure on these inputs.
  void Learn(const Counterexample& counterexample);
  // Inputs on which a candidate failed that had passed all checks of the search: its relatives would pass them, too.
  void LearnMissed(const Counterexample& counterexample);
  // What later candidates are to be checked on first: the missed inputs, the latest first, then those that failed most
  // candidates, the deadliest first; at most so many of each.
  static constexpr std::size_t kMissed = 4;
  static constexpr std::size_t kDeadliest = 3;
  std::vector<Counterexample> InputsToTryFirst() const;

 private:
  std::map<std::string, double> best_case_ns_;
  struct Kills {
    Counterexample inputs;
    int count = 0;
  };
  std::map<std::tuple<std::string, int, std::string>, Kills> kills_;  // by case, generator and input program
  std::vector<Counterexample> missed_;                                // the latest first
};

}  // namespace evo
