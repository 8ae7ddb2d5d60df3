#include "mutators/analysis/plain_source/free_blocks.h"

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::optional<std::string> WithoutLaunchBounds(const SyntaxTree& tree, std::set<std::string>& kernels) {
  Replacements gone;
  for (const int kernel : Functions(tree)) {
    const int bounds = IsKernel(tree, kernel) ? LaunchBoundsOf(tree, kernel) : -1;
    if (bounds < 0) continue;
    gone.emplace_back(bounds, "");
    kernels.insert(tree.node(kernel).name);
  }
  return gone.empty() ? std::nullopt : std::optional(TextWith(tree, 0, gone));
}

}  // namespace evo
