#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/population.h"

namespace evo {

// The structure of a genome: its template, and the names of the edits that bring parameters, without their numbers and values.
std::string StructureOf(const Genome& genome);

// The elitist population, in which a structure that is new and slower than the fastest member gets a niche: for a small number of
// children, half of the places of a generation have its members as parents, and only parameters are changed. Meanwhile it need
// not be faster than the rest, and afterwards it competes by what its numbers have become. A function of the generations, in
// order.
class StructureNichePopulation : public Population {
 public:
  // Children of a new structure before it competes. Two parameters with five values each are tuned in about as many steps.
  static constexpr int kBudget = 12;
  // Niches that get children at a time, the oldest first: with more, none would be tuned soon.
  static constexpr std::size_t kServed = 2;
  // Parents of a niche: the fastest so far, since its children only climb.
  static constexpr std::size_t kNicheCapacity = 3;

  explicit StructureNichePopulation(std::size_t capacity, int budget = kBudget) : elite_(capacity), budget_(budget) {}

  void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) override;
  const std::vector<Individual>& members() const override { return elite_.members(); }
  const std::vector<Individual>& Mates(std::size_t index) const override;
  bool TunesParameters(std::size_t index) const override { return NicheAt(index) != nullptr; }
  std::size_t TuningChildren() const override;

 private:
  struct Niche {
    std::string structure;
    std::vector<Individual> members;  // fastest first
    int left = 0;                     // children until it competes
  };

  const Niche* NicheAt(std::size_t index) const;

  ElitistPopulation elite_;
  int budget_;
  std::set<std::string> known_;  // structures that were ever ok
  std::vector<Niche> niches_;    // open, oldest first
};

}  // namespace evo
