#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "mutators/analysis/thread_runs/thread_run.h"

namespace evo {

// Runs the threads of a block together: they meet at barriers, exchange values by shuffles, and read in shared memory what was
// there when they last met and what they stored themselves since. Refused, in the trace of each thread, is what ThreadRun
// refuses, threads that race to store different values in an element, and threads that do not meet. So is a block once the loops
// of those that were run before it have had more than so many turns, which take a second for each million or so.
std::vector<ThreadTrace> RunBlock(ThreadRun& run, std::vector<ThreadSetting> threads,
                                  std::int64_t most_turns = std::numeric_limits<std::int64_t>::max());

// Whether a kernel's threads have to run together.
bool NeedsBlock(const SyntaxTree& tree, int kernel);
// Whether a kernel is one whose threads work together in blocks of the size that it was written for: the template asks for the
// compiler's registers by __launch_bounds__. Such tiles are an expert's, and to run them on numbers takes a minute.
bool IsTunedBlock(const MutationContext& context, int kernel);
// Whether what a kernel computes is to be found out from another parent: its threads have to run together, which takes a hundred
// times as long, and it is not as its template has it. All settings of a template compute the same, and so do its edits, so that
// the template at its defaults, which each search begins with, tells what there is to know.
bool IsKnownElsewhere(const MutationContext& context, int kernel);

}  // namespace evo
