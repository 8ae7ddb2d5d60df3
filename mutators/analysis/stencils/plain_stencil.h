#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_formula.h"
#include "mutators/mutator.h"

namespace evo {

// The source with a kernel in which one thread computes each element of a stencil, and its launch line. Empty if the launch line
// cannot be changed.
std::string WithPlainStencil(const MutationContext& context, const Stencil& found, const StencilFormulas& formulas);

}  // namespace evo
