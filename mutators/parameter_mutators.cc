#include "mutators/parameter_mutators.h"

#include <algorithm>

namespace evo {
namespace {

// Constraints refuse many draws; so many are made before a mutator says that it does not apply.
constexpr int kDraws = 50;

template <typename Change>
std::optional<Mutation> TryChanges(const MutationContext& context, Rng& rng, Change change) {
  const SearchSpace& space = context.kernel_template.space;
  if (space.parameters.empty()) return std::nullopt;
  for (int i = 0; i < kDraws; ++i) {
    Genome child = context.parent;
    change(space, child.parameters, rng);
    if (child.parameters != context.parent.parameters && !space.Violated(child.parameters)) return child;
  }
  return std::nullopt;
}

void DrawOne(const SearchSpace& space, Parameters& values, Rng& rng) {
  const Parameter& parameter = space.parameters[rng.Below(space.parameters.size())];
  values[parameter.name] = parameter.values[rng.Below(parameter.values.size())];
}

}  // namespace

std::optional<Mutation> ParameterStep::Mutate(const MutationContext& context, Rng& rng) const {
  return TryChanges(context, rng, [](const SearchSpace& space, Parameters& values, Rng& draws) {
    const Parameter& parameter = space.parameters[draws.Below(space.parameters.size())];
    const auto here = std::find(parameter.values.begin(), parameter.values.end(), values[parameter.name]) - parameter.values.begin();
    const std::ptrdiff_t next = here + (draws.Chance(0.5) ? 1 : -1);
    if (next >= 0 && next < static_cast<std::ptrdiff_t>(parameter.values.size())) values[parameter.name] = parameter.values[static_cast<std::size_t>(next)];
  });
}

std::optional<Mutation> ParameterDraw::Mutate(const MutationContext& context, Rng& rng) const { return TryChanges(context, rng, DrawOne); }

std::optional<Mutation> ParameterMix::Mutate(const MutationContext& context, Rng& rng) const {
  return TryChanges(context, rng, [](const SearchSpace& space, Parameters& values, Rng& draws) {
    const auto count = 2 + draws.Below(2);
    for (std::uint64_t i = 0; i < count; ++i) DrawOne(space, values, draws);
  });
}

}  // namespace evo
