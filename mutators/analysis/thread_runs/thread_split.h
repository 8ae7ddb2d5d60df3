#pragma once

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// The threads of a group divide a loop's iterations among them: each starts at its number, from 0 to step - 1, or that far behind
// a base, so that together they take every element once. That is `threadIdx.x` with the width of the block as the step, or
// `threadIdx.x % step`.
struct ThreadSplit {
  int base = -1;    // of `base + thread`; -1 for 0
  int thread = -1;  // the expression for the thread's number
};
std::optional<ThreadSplit> SplitAmongThreads(const MutationContext& context, const CountedLoop& loop);

}  // namespace evo
