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
// Whether what a kernel computes is to be found out from another parent: its threads have to run together, which takes a hundred
// times as long, and it is not as its template has it. All settings of a template compute the same, and so do its edits, so that
// the template at its defaults, which each search begins with, tells what there is to know.
bool IsKnownElsewhere(const MutationContext& context, int kernel);

}  // namespace evo
