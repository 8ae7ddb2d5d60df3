#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with stencils that AsStencil does not know as ones that it knows: with windows of a fixed size (window_loops.h) if
// that is enough, else as plain kernels that compute the same (stencil_by_results.h). nullopt if there are none. As Restate of
// plain_source.h.
std::optional<std::string> RestatedStencils(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse);

}  // namespace evo
