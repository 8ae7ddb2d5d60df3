#pragma once

#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Parts of a source's launches that may be an attention among others, such as projections before and after it: launches that
// follow each other, of kernels that no other launch line names, with all that other launches leave or read as arguments. The
// likely ones first.
std::vector<KernelTemplate> LaunchPartsWithExponentials(const MutationContext& context);

}  // namespace evo
