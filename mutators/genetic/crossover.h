#pragma once

#include <memory>

#include "mutators/mutator.h"

namespace evo {

inline constexpr std::string_view kCrossover = "crossover";

// Takes each parameter from either parent, and of the edits either the front of one list and the back of the other, or those of
// one parent with some of the other's behind. Needs a second parent of the same template; gives nothing that equals a parent.
std::unique_ptr<Mutator> MakeCrossover();

}  // namespace evo
