#include "engine/population_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"
#include "engine/islands.h"
#include "engine/structure_niches.h"

namespace evo {

const std::vector<std::string>& PopulationKinds() {
  static const std::vector<std::string> kinds = {"elitist", "islands", "map-elites", "niches", "random"};
  return kinds;
}

std::unique_ptr<Population> MakePopulation(const std::string& kind, std::size_t capacity, MapElitesPopulation::CellOf cell_of) {
  if (kind == "elitist") return std::make_unique<ElitistPopulation>(capacity);
  if (kind == "islands") return std::make_unique<IslandPopulation>(capacity);
  if (kind == "map-elites") return std::make_unique<MapElitesPopulation>(capacity, std::move(cell_of));
  if (kind == "niches") return std::make_unique<StructureNichePopulation>(capacity);
  if (kind == "random") return std::make_unique<RandomPopulation>();
  throw UsageError(fmt::format("population kind {}: it is one of {}", kind, fmt::join(PopulationKinds(), ", ")));
}

}  // namespace evo
