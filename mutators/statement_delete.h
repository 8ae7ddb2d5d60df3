#pragma once

#include "mutators/mutator.h"

namespace evo {

// Plain genetic improvement: what is not needed goes. Never a barrier, a return or another call for its effect. Mostly wrong; the gate decides.
class StatementDelete : public Mutator {
 public:
  std::string_view name() const override { return "statement_delete"; }
  std::string_view description() const override { return "deletes a statement"; }
  double weight() const override { return 0.5; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
