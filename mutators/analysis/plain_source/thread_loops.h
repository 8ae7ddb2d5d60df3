#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/mutator.h"

namespace evo {

// A source in which loops of threads are what they are for one element, so that kernels with one element a thread are recognised:
//   - a loop `for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)` whose grid has a thread for
//   each
//     i, so that it has one turn at most, becomes `if (i < n)`;
//   - of planes: a loop over the third dimension in a grid of two, whose turns share nothing but what is the same in all of
//     them, becomes a third dimension of the grid: the turns may come in any order;
//   - of elements: such a loop as the first, in a grid of any size, whose turns share nothing, becomes `if (i < n)` in a grid
//   that
//     has a thread for each i;
//   - of batches: the same in a grid whose blocks along z are batches.
// nullopt if there is no such loop.
enum class ThreadLoops { kOfOneTurn, kOfPlanes, kOfElements, kOfBatches };
std::optional<std::string> WithoutThreadLoops(const MutationContext& context, ThreadLoops loops);

// An integer expression of a kernel's parameters and of numbers as its launch line says it; nullopt if it names anything else.
std::optional<std::string> LaunchTextOf(const SyntaxTree& tree, const LaunchDirective& launch, int kernel,
                                        const AffineForm& form);
std::optional<std::string> AsLaunchText(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int expression);

}  // namespace evo
