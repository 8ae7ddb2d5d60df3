#pragma once

#include <string>

#include "mutators/analysis/reductions/reduction.h"

namespace evo {

// Finds the launch lines of a reduction's kernel and how many threads a block may have. Why not, if they are not understood; else
// an empty text.
std::string FindReductionLaunch(const MutationContext& context, Reduction& found);

}  // namespace evo
