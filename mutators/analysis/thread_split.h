#pragma once

#include "mutators/analysis/counted_loop.h"

namespace evo {

// Whether the threads of a group go through a loop in turns: the start is each thread's number from 0 to step - 1, so that they
// take each element once together. That is `threadIdx.x` with the width of the block as the step, or `x % step`.
bool IsSplitAmongThreads(const MutationContext& context, const CountedLoop& loop);

}  // namespace evo
