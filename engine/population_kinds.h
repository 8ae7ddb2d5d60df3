#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/map_elites.h"
#include "engine/population.h"

namespace evo {

// The names that MakePopulation knows, the default first.
const std::vector<std::string>& PopulationKinds();
// `cell_of` is what a map of elites tells its members apart by. Throws UsageError for a kind that is not known.
std::unique_ptr<Population> MakePopulation(const std::string& kind, std::size_t capacity,
                                           MapElitesPopulation::CellOf cell_of = ResourceCell);

}  // namespace evo
