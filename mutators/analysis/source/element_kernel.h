#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel whose threads each compute one element, `i = blockIdx.x * E + ...`, and that can compute several elements at once if
// the statements that depend on the index are repeated for each.
struct ElementKernel {
  ThreadIndex index;
  int guard = -1;               // `if (i >= n) return;` or `if (i < n) { ... }`
  std::string bound;            // `n`
  std::vector<int> statements;  // those that the guard protects; the guard may have no braces around one statement
  std::set<int> dependent;      // declarations that differ from element to element
};

// nullopt if the elements depend on each other, or on anything else that cannot be repeated.
std::optional<ElementKernel> AsElementKernel(const MutationContext& context, const ThreadIndex& index);

// The change of the grid for threads that compute several elements.
LaunchChange DividedGrid(const SyntaxTree& tree, const ThreadIndex& index, int items);

}  // namespace evo
