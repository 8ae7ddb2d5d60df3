#pragma once

#include <vector>

#include "mutators/analysis/thread_run.h"

namespace evo {

// Runs the threads of a block together: they meet at barriers, exchange values by shuffles, and read in shared memory what was
// there when they last met and what they stored themselves since. Refused, in the trace of each thread, is what ThreadRun
// refuses, threads that race to store different values in an element, and threads that do not meet.
std::vector<ThreadTrace> RunBlock(ThreadRun& run, std::vector<ThreadSetting> threads);

// Whether a kernel's threads have to run together.
bool NeedsBlock(const SyntaxTree& tree, int kernel);
// Whether they do because an edit wrote the kernel so, with parameters of its own: a tiled product or convolution. What could be
// found out by running it is known of the kernel before that edit, and takes a hundred times as long here.
bool IsTiledByEdit(const MutationContext& context, int kernel);

}  // namespace evo
