#pragma once

#include "mutators/mutator.h"

namespace evo {

// Moves a load up or a store down past a neighbour that neither reads what it writes nor writes what it reads.
class StatementSwap : public Mutator {
 public:
  std::string_view name() const override { return "statement_swap"; }
  std::string_view description() const override { return "swaps two neighbouring statements that do not depend on each other"; }
  double weight() const override { return 1; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
