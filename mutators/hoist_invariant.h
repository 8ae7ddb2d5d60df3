#pragma once

#include "mutators/mutator.h"

namespace evo {

// An arithmetic expression inside a loop whose names the loop never writes becomes a constant in front of it.
class HoistInvariant : public Mutator {
 public:
  std::string_view name() const override { return "hoist_invariant"; }
  std::string_view description() const override { return "computes what a loop does not change before the loop"; }
  double weight() const override { return 1; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
