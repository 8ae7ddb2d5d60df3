#include "engine/population.h"

#include <algorithm>
#include <tuple>

namespace evo {

bool Precedes(const Individual& a, const Individual& b) {
  return std::tie(a.score_ns, a.candidate.id) < std::tie(b.score_ns, b.candidate.id);
}

void ElitistPopulation::Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    // Of equal programs the first counts. A later one may only have been luckier with the clock.
    if (evaluations[i].outcome != Outcome::kOk || !programs_.insert(evaluations[i].program_digest).second) continue;
    members_.push_back({candidates[i], evaluations[i].score_ns, evaluations[i].clocks.compile_ms});
  }
  std::sort(members_.begin(), members_.end(), Precedes);
  if (members_.size() > capacity_) members_.resize(capacity_);
}

}  // namespace evo
