#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_formula.h"
#include "mutators/mutator.h"

namespace evo {

// Sizes of which the grid has whole blocks only.
using WholeBlocksOfSizes = std::map<std::string, LaunchRuns::WholeBlocks>;
// That along which elements are stored; null if there is none.
const WholeBlocksOfSizes::value_type* WholeBlocksAlong(const Stencil& found, std::size_t axis, const WholeBlocksOfSizes& whole);

// The first element along an axis, where its whole blocks begin; 0 without such blocks.
std::int64_t FirstOfBlocks(const Stencil& found, std::size_t axis, const WholeBlocksOfSizes& whole);

// The source with a plain kernel in the place of one that computes these formulas: one thread an element, which tests for edges
// what its neighbours need. As many whole blocks as before, along the axes that have such. Empty if it cannot be.
std::string WithPlainStencil(const MutationContext& context, const Stencil& found, const StencilFormulas& formulas,
                             const WholeBlocksOfSizes& whole);

}  // namespace evo
