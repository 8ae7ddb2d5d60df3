#include "engine/islands.h"

#include <algorithm>

namespace evo {

IslandPopulation::IslandPopulation(std::size_t capacity, std::size_t islands, int migration_interval)
    : island_capacity_(std::max<std::size_t>(2, capacity / islands)),
      migration_interval_(migration_interval),
      islands_(islands) {}

void IslandPopulation::Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (evaluations[i].outcome != Outcome::kOk || !programs_.insert(evaluations[i].program_digest).second) continue;
    islands_[static_cast<std::size_t>(candidates[i].index) % islands_.size()].push_back(
        {candidates[i], evaluations[i].score_ns, evaluations[i].clocks.compile_ms});
  }
  for (std::vector<Individual>& island : islands_) {
    std::sort(island.begin(), island.end(), Precedes);
    if (island.size() > island_capacity_) island.resize(island_capacity_);
  }
  // The time is the candidates' own generation, so that a resumed run, which gets the same candidates, migrates at the same
  // times.
  if (!candidates.empty() && candidates.back().generation / migration_interval_ > migrations_) {
    migrations_ = candidates.back().generation / migration_interval_;
    Migrate();
  }
  Gather();
}

const std::vector<Individual>& IslandPopulation::Mates(std::size_t index) const {
  const std::vector<Individual>& island = islands_[index % islands_.size()];
  return island.empty() ? members_ : island;
}

// On a full island the migrant replaces the slowest member, even if the migrant is slower: the purpose is diversity.
void IslandPopulation::Migrate() {
  std::vector<std::vector<Individual>> next = islands_;
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    if (islands_[i].empty()) continue;
    const Individual& migrant = islands_[i].front();
    std::vector<Individual>& target = next[(i + 1) % next.size()];
    const auto same = [&](const Individual& one) { return one.candidate.id == migrant.candidate.id; };
    if (std::any_of(target.begin(), target.end(), same)) continue;
    if (target.size() >= island_capacity_) target.pop_back();
    target.push_back(migrant);
    std::sort(target.begin(), target.end(), Precedes);
  }
  islands_ = std::move(next);
}

void IslandPopulation::Gather() {
  members_.clear();
  std::set<CandidateId> taken;
  for (const std::vector<Individual>& island : islands_) {
    for (const Individual& one : island) {
      if (taken.insert(one.candidate.id).second) members_.push_back(one);
    }
  }
  std::sort(members_.begin(), members_.end(), Precedes);
}

}  // namespace evo
