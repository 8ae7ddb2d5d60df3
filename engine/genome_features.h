#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "engine/features.h"

namespace evo {

// Describes genomes by coordinates: the number of the template; the parameters on a logarithmic scale (0 if the template does not
// have one); how many times 2 divides each, where that tells more (0 elsewhere); and the number of edits of each operator.
class GenomeFeatures {
 public:
  // `seeds` are the templates at their defaults, `operators` the names of all operators that may change a genome.
  GenomeFeatures(const std::vector<Genome>& seeds, std::vector<std::string> operators);

  // Notes the values of a genome's parameters.
  void Learn(const Parameters& parameters);
  // From now on the parameters that were learnt have coordinates, and those whose values ask for it a second one.
  void Update();

  std::vector<FeatureKind> Kinds() const;
  Features Of(const Genome& genome) const;

 private:
  std::vector<std::string> templates_;
  std::vector<std::string> parameters_;  // of all templates, and those that were learnt before the last update; sorted
  std::vector<std::string> operators_;   // sorted
  std::map<std::string, std::set<std::int64_t>> values_;  // of each parameter, that were learnt
  std::vector<bool> divisibility_tells_;                  // of each parameter, since the last update
};

}  // namespace evo
