#pragma once

#include <map>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Those of the variables that are a coordinate or the element's index, give or take a number, in all threads of both launches.
std::map<int, Stencil::Role> StencilRolesOf(const StencilLaunches& launches, const std::vector<int>& variables);

}  // namespace evo
