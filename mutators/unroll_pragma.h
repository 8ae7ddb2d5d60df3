#pragma once

#include "mutators/mutator.h"

namespace evo {

// `#pragma unroll [N]` in front of a for loop. Safe: changes no result. More independent work in flight, more registers.
class UnrollPragma : public Mutator {
 public:
  std::string_view name() const override { return "unroll_pragma"; }
  std::string_view description() const override { return "sets, changes or removes the unroll pragma of a loop"; }
  double weight() const override { return 2; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
