#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/population.h"

namespace evo {

// Several elitist populations that breed separately, so that one lucky lineage does not take over at once. The child at place i
// of a generation lives on island i mod the number of islands, and its parents are of this island. Every few generations the
// fastest of each island migrates to the next island of the ring. A program lives on the island where it first appeared and on
// those that it migrated to. As long as an island has no members, its children have parents from any island.
class IslandPopulation : public Population {
 public:
  static constexpr std::size_t kIslands = 4;
  static constexpr int kMigrationInterval = 5;  // generations

  // The islands share the capacity evenly. Each holds at least two members.
  explicit IslandPopulation(std::size_t capacity, std::size_t islands = kIslands, int migration_interval = kMigrationInterval);
  void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) override;
  const std::vector<Individual>& members() const override { return members_; }
  const std::vector<Individual>& Mates(std::size_t index) const override;

 private:
  void Migrate();
  void Gather();

  std::size_t island_capacity_;
  int migration_interval_;
  int migrations_ = 0;                            // done so far
  std::vector<std::vector<Individual>> islands_;  // each fastest first
  std::vector<Individual> members_;               // of all islands, each candidate once
  std::set<std::string> programs_;                // of all candidates that were ever ok
};

}  // namespace evo
