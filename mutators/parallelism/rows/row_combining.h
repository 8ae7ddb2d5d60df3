#pragma once

#include <string>

#include "mutators/analysis/rows/row_kernel.h"

namespace evo {

// Code that gives all threads of a row what they have accumulated together in a loop; it stands behind the loop, and begins with
// a line break.

// By shuffles, for the lanes of a warp.
std::string CombineInWarp(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads);
// By shuffles within a warp and through shared memory between warps, for the threads of a block. Not of arrays.
std::string CombineInBlock(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads);

// Adds the changes that divide a loop among threads. `combine` stands behind the loop, then `barrier`, which may be empty.
void DivideLoop(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, const std::string& combine,
                const std::string& barrier, Proposal& proposal);
// The same for a loop of running sums, of which `text` is what takes its place.
void ReplaceByTiles(const SyntaxTree& tree, const SharedLoop& loop, const std::string& text, const std::string& barrier,
                    Proposal& proposal);
// If a kernel has running sums, a parameter that the proposal brings for the elements of a thread in a tile; its name.
std::string BringItems(const SyntaxTree& tree, const RowKernel& kernel, Proposal& proposal);

}  // namespace evo
