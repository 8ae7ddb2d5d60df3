#pragma once

#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Kernels whose threads each store one element, and that load along one axis and store along another, as a transposition or a
// permutation of axes does. A block takes 32 x 32 elements: its threads compute them in the order in which they are loaded, leave
// them in shared memory, and store them in the order in which they lie in the output. The axes are the two indices of a grid of
// two dimensions, or parts of one index, i / S % E and the elements around it: each i is (outer * E + c) * S + inner for one
// outer, one c below E and one inner below S, whatever S and E are.
std::vector<Proposal> ExchangeTiles(const MutationContext& context);
// Why kernels with two indices, or with parts of one, have none.
std::vector<std::string> WhyNoExchangeTiles(const MutationContext& context);

}  // namespace evo
