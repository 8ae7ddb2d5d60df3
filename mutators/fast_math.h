#pragma once

#include "mutators/mutator.h"

namespace evo {

// `expf` and its like to `__expf`, float division to `__fdividef`, and back. Loses some bits: the gate decides whether they matter.
class FastMath : public Mutator {
 public:
  std::string_view name() const override { return "fast_math"; }
  std::string_view description() const override { return "exchanges a math function or a division for its fast intrinsic, or back"; }
  double weight() const override { return 1.5; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
