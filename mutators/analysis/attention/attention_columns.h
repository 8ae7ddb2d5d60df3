#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with kernels that have an exponential and compute one element of a matrix a thread as ones in which a thread has a
// row: its columns are those of a loop. nullopt if there are none. As Restate of plain_source.h.
std::optional<std::string> WithColumnsInLoops(const MutationContext& context,
                                              const std::function<void(const std::string&)>& refuse);

}  // namespace evo
