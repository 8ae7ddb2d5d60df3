#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with one more parameter for a kernel that is launched once, in as many whole blocks as fit into a size that it does
// not get, `n / 256`: that size, passed last. nullopt if it gets all such sizes.
std::optional<std::string> WithPassedLength(const MutationContext& context, int kernel);

}  // namespace evo
