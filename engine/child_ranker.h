#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "engine/surrogate.h"

namespace evo {

// Decides which of many children are worth compiling, by a surrogate fitted to the evaluations of the run. A function of those
// and of the seed only: a run that is resumed decides as the whole one does.
class ChildRanker {
 public:
  // So many children are bred for each that is evaluated, while the surrogate is trusted.
  static constexpr int kBredForEach = 3;

  // `seeds` are the templates at their defaults, `operators` the names of all that may change a genome.
  ChildRanker(const std::vector<Genome>& seeds, std::vector<std::string> operators, std::uint64_t seed);

  // Cancelled evaluations say nothing and are passed over.
  void Learn(const Genome& genome, const Evaluation& evaluation);
  // Fits to what was learnt so far. Until it is called again, what it learns is not used.
  void Fit();
  // How many children to breed so that `wanted` can be chosen.
  int ToBreed(int wanted) const;
  // The places of `wanted` of these, ascending: in the part that trust allows the most promising, for the rest the first of the
  // others. All, if there are no more than wanted.
  std::vector<std::size_t> Choose(std::span<const Genome> children, std::size_t wanted) const;
  double trust() const { return surrogate_ ? surrogate_->trust() : 0; }

  // The template's number, the parameters on a logarithmic scale (0 for those of other templates), the edits of each operator.
  Features FeaturesOf(const Genome& genome) const;

 private:
  std::vector<FeatureKind> Kinds() const;

  std::vector<std::string> templates_;
  std::vector<std::string> parameters_;  // of all templates, sorted
  std::vector<std::string> operators_;   // sorted
  std::uint64_t seed_;
  std::vector<Features> points_;
  std::vector<std::optional<double>> times_ns_;  // nullopt: failed
  std::optional<Surrogate> surrogate_;           // made anew by each fit
};

}  // namespace evo
