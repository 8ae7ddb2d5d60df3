#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The text in which kernels whose blocks count in shared memory, and add these counts to global memory at their end, count in
// global memory at once. They store the same: counts are integers. nullopt if there are none such.
std::optional<std::string> WithoutSharedCounts(const MutationContext& context);

}  // namespace evo
