#include "mutators/crossover.h"

#include <algorithm>

namespace evo {

std::optional<Mutation> Crossover::Mutate(const MutationContext& context, Rng& rng) const {
  if (context.second == nullptr) return std::nullopt;
  constexpr int kDraws = 20;   // constraints may refuse a mixture
  for (int i = 0; i < kDraws; ++i) {
    Genome child = context.parent;
    for (auto& [name, value] : child.parameters) {
      const auto other = context.second->parameters.find(name);
      if (other != context.second->parameters.end() && rng.Chance(0.5)) value = other->second;
    }
    std::erase_if(child.edits, [&](const Edit& edit) {
      const auto& theirs = context.second->edits;
      return std::find(theirs.begin(), theirs.end(), edit) == theirs.end() && rng.Chance(0.25);
    });
    for (const Edit& edit : context.second->edits) {
      const bool known = std::find(context.parent.edits.begin(), context.parent.edits.end(), edit) != context.parent.edits.end();
      if (!known && rng.Chance(0.5)) child.edits.push_back(edit);
    }
    if (child == context.parent || child == *context.second || context.kernel_template.space.Violated(child.parameters)) continue;
    return child;
  }
  return std::nullopt;
}

}  // namespace evo
