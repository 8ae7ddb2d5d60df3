#pragma once

#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Kernels whose threads each compute one element, with threads that take 2, 4, 8 or 16 neighbouring ones: they load and store the
// elements of a buffer 16 bytes at a time where all of them exist and are aligned, and take them one by one elsewhere. A buffer
// may be read and stored; each element is then read and stored by one thread of the parent, which has no race.
std::vector<Proposal> ElementVectors(const MutationContext& context);

}  // namespace evo
