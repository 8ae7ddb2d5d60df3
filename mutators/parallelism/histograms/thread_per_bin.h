#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Kernels each thread of which goes through all elements and counts how often its own number occurs among them: as a proposal, a
// kernel before them that goes through the elements once, counts all numbers in shared memory, and leaves the counts in a
// workspace, in which each thread finds its own. Or why a kernel that counts so is left as it is.
std::vector<std::variant<Proposal, std::string>> ThreadsPerBin(const MutationContext& context);

}  // namespace evo
