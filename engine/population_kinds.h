#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/map_elites.h"
#include "engine/population.h"

namespace evo {

// The names that MakePopulation knows, the default first.
const std::vector<std::string>& PopulationKinds();
// `cell_of` gives the cell of a candidate in a map of elites. Throws UsageError for an unknown kind.
std::unique_ptr<Population> MakePopulation(const std::string& kind, std::size_t capacity,
                                           MapElitesPopulation::CellOf cell_of = ResourceCell);

}  // namespace evo
