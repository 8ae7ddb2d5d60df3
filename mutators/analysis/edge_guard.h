#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/block_uniform.h"
#include "mutators/analysis/counted_loop.h"

namespace evo {

// How a kernel whose threads past the end have nothing to do (`if (i >= n) return;`, `if (i < n) { ... }`) is made one whose
// blocks stay together, so that they may meet at barriers: a thread past the end does what the last one does, and stores nothing.
struct EdgeGuard {
  int statement = -1;       // the `if`
  Replacements changes;     // of the indices' declarations and of the `if` or its condition
  std::string before;       // to be put in front of the `if`
  std::string inside;       // name of what says whether a thread stores
  std::vector<int> stores;  // statements for those inside
};

// The guard round or in front of a statement of a kernel; nullopt if there is none of that kind, or if something else in the
// kernel would notice.
std::optional<EdgeGuard> EdgeGuardOf(const MutationContext& context, const BlockUniform& uniform, int kernel, int statement);

// A store for those inside, with nodes below it replaced.
std::string GuardedStore(const SyntaxTree& tree, const EdgeGuard& guard, int store, const Replacements& replacements = {});

}  // namespace evo
