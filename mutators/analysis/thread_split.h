#pragma once

#include "mutators/analysis/counted_loop.h"

namespace evo {

// Whether the threads of a group divide a loop's iterations among them: each starts at its number, from 0 to step - 1, so that
// together they take every element once. That is `threadIdx.x` with the width of the block as the step, or `threadIdx.x % step`.
bool IsSplitAmongThreads(const MutationContext& context, const CountedLoop& loop);

}  // namespace evo
