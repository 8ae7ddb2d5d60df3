#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/population.h"

namespace evo {

// Several elitist populations that breed apart, so that one lucky line does not take over at once. The child at place i of a
// generation lives on island i mod the number of islands, where its parents were found; every few generations each island's
// fastest goes to the next one, in a ring. A program lives on the island where it first appeared and on those it migrated to.
// Until an island has members, its children have parents from anywhere.
class IslandPopulation : public Population {
 public:
  static constexpr std::size_t kIslands = 4;
  static constexpr int kMigrationInterval = 5;  // generations

  // The islands share the capacity evenly; each holds two at least.
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
  std::set<std::string> programs_;                // of everything that was ever ok
};

}  // namespace evo
