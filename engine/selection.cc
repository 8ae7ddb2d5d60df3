#include "engine/selection.h"

#include <algorithm>

namespace evo {
namespace {

// Keeps the parents' draws apart from those of the child itself, which use Rng(seed, generation, index).
constexpr std::uint64_t kSelectionStream = 0x73656c6563740000ULL;

}  // namespace

Parents SelectParents(const std::vector<Individual>& members, int tournament_size, std::uint64_t seed, std::uint64_t generation, std::uint64_t index) {
  Rng rng(seed ^ kSelectionStream, generation, index);
  std::size_t first = rng.Below(members.size());
  for (int i = 1; i < tournament_size; ++i) first = std::min<std::size_t>(first, rng.Below(members.size()));
  Parents parents;
  parents.ids.push_back(members[first].candidate.id);
  parents.genomes.push_back(members[first].candidate.genome);
  parents.sources.push_back(members[first].candidate.source);
  if (members.size() > 1) {
    std::size_t second = rng.Below(members.size() - 1);
    if (second >= first) ++second;
    parents.ids.push_back(members[second].candidate.id);
    parents.genomes.push_back(members[second].candidate.genome);
    parents.sources.push_back(members[second].candidate.source);
  }
  return parents;
}

}  // namespace evo
