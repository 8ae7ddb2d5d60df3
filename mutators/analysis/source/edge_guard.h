#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// A guard that keeps threads past the end from working (`if (i >= n) return;`, `if (i < n) { ... }`), and the changes that
// replace it so that all threads of a block reach the barriers: a thread past the end repeats the work for the last element and
// stores nothing.
struct EdgeGuard {
  int statement = -1;       // the `if`
  Replacements changes;     // to the declarations of the indices and to the `if` or its condition
  std::string before;       // text to insert before the `if`
  std::string inside;       // name of the variable that says whether a thread may store
  std::vector<int> stores;  // the stores that only threads inside the bounds may execute
};

// The guard around or before a statement of a kernel. nullopt if there is no such guard, or if the changes would affect anything
// else in the kernel.
std::optional<EdgeGuard> EdgeGuardOf(const MutationContext& context, const BlockUniform& uniform, int kernel, int statement);

// The text of a store, with nodes in it replaced, that only threads inside the bounds execute.
std::string GuardedStore(const SyntaxTree& tree, const EdgeGuard& guard, int store, const Replacements& replacements = {});

}  // namespace evo
