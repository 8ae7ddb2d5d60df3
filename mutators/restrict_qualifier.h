#pragma once

#include "mutators/mutator.h"

namespace evo {

// Promises that a kernel's pointers do not overlap, and that what is never written is const. True for every task of evo: the arguments are
// buffers of their own.
class RestrictQualifier : public Mutator {
 public:
  std::string_view name() const override { return "restrict_qualifier"; }
  std::string_view description() const override { return "adds __restrict__ and const to a kernel's pointer parameters"; }
  double weight() const override { return 1.5; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
