#pragma once

#include <optional>
#include <string>

#include "kernel_templates/launch_line.h"
#include "mutators/mutator.h"

namespace evo {

// The changes that let a block of a kernel do the work of several blocks along an axis, one after another: a loop around all
// statements of the kernel, over a parameter that gets the number of blocks that the grid has now.
struct BlockLoop {
  Proposal proposal;  // without the grid
  std::string whole;  // the present number of blocks, as the launch line has it
};

// Statements that the kernel does once, before and after the loop: lines without the kernel's indentation. Empty for none.
struct OutsideLoop {
  std::string before;
  std::string after;
};

// nullopt if the kernel is not launched just once, if blocks cannot be told from each other by `blockIdx` alone, or if a thread
// that returns would leave others at a barrier.
std::optional<BlockLoop> LoopOverBlocks(const MutationContext& context, int kernel, std::size_t axis,
                                        const OutsideLoop& outside = {});

}  // namespace evo
