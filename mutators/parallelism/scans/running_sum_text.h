#pragma once

#include <string>

#include "mutators/analysis/rows/shared_loop.h"

namespace evo {

// A loop of running sums as a loop of tiles: each of the threads takes `items` elements of a tile, one behind `threads.count`
// others, so that neighbouring threads read neighbours. Shuffles scan the lanes of a warp; with `in_block`, shared memory adds up
// the warps. Then every thread runs the loop's body for its elements.
std::string RunningSumText(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, const std::string& items,
                           bool in_block);

}  // namespace evo
