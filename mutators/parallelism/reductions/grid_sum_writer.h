#pragma once

#include <string>

#include "mutators/analysis/reductions/grid_sum.h"
#include "mutators/mutator.h"

namespace evo {

// The edit that computes such a sum anew: in registers, by shuffles, and in a second launch that adds up the blocks' results.
// Nothing if the output is set to zero between the launches.
std::vector<Proposal> GridSumProposals(const MutationContext& context, const GridSum& sum);

}  // namespace evo
