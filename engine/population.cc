#include "engine/population.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace evo {

void ElitistPopulation::Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (evaluations[i].outcome == Outcome::kOk) members_.push_back({candidates[i], evaluations[i].score_ns, evaluations[i].image_digest});
  }
  // Of equal programs the first stays, although a later one may have been luckier with the clock.
  std::sort(members_.begin(), members_.end(), [](const Individual& a, const Individual& b) { return a.candidate.id < b.candidate.id; });
  std::set<std::string> images;
  std::erase_if(members_, [&](const Individual& member) { return !images.insert(member.image_digest).second; });
  std::sort(members_.begin(), members_.end(), [](const Individual& a, const Individual& b) {
    return std::tie(a.score_ns, a.candidate.id) < std::tie(b.score_ns, b.candidate.id);
  });
  if (members_.size() > capacity_) members_.resize(capacity_);
}

}  // namespace evo
