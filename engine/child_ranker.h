#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "engine/genome_features.h"
#include "engine/surrogate.h"

namespace evo {

// Decides which of many children are worth compiling, by a surrogate fitted to the evaluations of the run. A function of the
// evaluations and the seed only, so that a resumed run decides as the whole run does.
class ChildRanker {
 public:
  // While the surrogate is trusted, so many children are bred for each that is evaluated, and so many at least: what is not bred
  // cannot be chosen, and breeding costs a thousandth of an evaluation.
  static constexpr int kBredForEach = 10, kLeastBred = 400;

  // The usual number of children of a generation where only parameters are set: few, so that what one generation shows counts in
  // the next but one (docs/results.md, "Search on a measured landscape").
  static constexpr int kUsualChildren = 8;
  // And while a run is early (EvolutionSettings::early_candidates): the first generations are bred before anything is learnt.
  static constexpr int kUsualEarlyChildren = 3;

  // `seeds` are the templates at their defaults, `operators` the names of all operators that may change a genome.
  ChildRanker(const std::vector<Genome>& seeds, std::vector<std::string> operators, std::uint64_t seed);

  // A genome that is being evaluated. Until it is learnt, children are chosen as if it were measured as expected.
  void Await(const Genome& genome);
  // Ignores cancelled evaluations, which say nothing about the genome.
  void Learn(const Genome& genome, const Evaluation& evaluation);
  // Fits the surrogate to the evaluations learnt so far. Those learnt later have no effect before the next call.
  void Fit();
  // How many children to breed so that `wanted` can be chosen.
  int ToBreed(int wanted) const;
  // The indices of `wanted` of these children, ascending; of all children if there are no more. The trust says what share of them
  // are the most promising. The rest are the first of the others.
  std::vector<std::size_t> Choose(std::span<const Genome> children, std::size_t wanted) const;
  double trust() const { return surrogate_ ? surrogate_->trust() : 0; }

  // A parameter that an edit brings has coordinates from the first fit on that knows of it.
  Features FeaturesOf(const Genome& genome) const { return features_.Of(genome); }

 private:
  GenomeFeatures features_;
  std::uint64_t seed_;
  std::vector<Genome> awaited_;
  std::vector<Genome> learnt_;                   // their edits have nothing but the operator
  std::vector<std::optional<double>> times_ns_;  // nullopt: failed
  std::optional<Surrogate> surrogate_;           // constructed by each fit
};

}  // namespace evo
