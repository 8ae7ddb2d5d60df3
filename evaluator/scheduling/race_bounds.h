#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

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
  // The inputs that failed most candidates; nullopt as long as none failed any.
  std::optional<CaseInputs> DeadliestInputs() const;

 private:
  std::map<std::string, double> best_case_ns_;
  std::map<std::pair<std::string, int>, int> kills_;  // by case and generator
};

}  // namespace evo
