#pragma once

#include <cstddef>
#include <vector>

#include "engine/landscape_search.h"

namespace evo {

// Searches a landscape by the loop of `evo run` (engine/evolution.h): generations, the lag between breeding and evaluating, the
// operators that set parameters with adaptive weights, and the ranking of children. The run starts from one ok point that the
// seed draws, as it would from a template at its default parameters. options.random has no effect: `random` is a population kind.
// The points in the order in which they are evaluated, none twice; fewer than asked for if the run finds nothing new to try.
// Deterministic.
std::vector<std::size_t> SearchAsRun(const Landscape& landscape, const LandscapeSearchOptions& options);

}  // namespace evo
