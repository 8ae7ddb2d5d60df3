#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/mutator.h"

namespace evo {

// The change of a kernel into one whose threads walk, with this text before it, this body, and a launch with this grid and block.
// It brings no parameters yet.
Proposal WalkingStencil(const MutationContext& context, const Stencil& found, const std::string& functions,
                        const std::string& body, const std::string& grid, const std::string& block);

}  // namespace evo
