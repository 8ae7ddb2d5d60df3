#pragma once

#include "mutators/mutator.h"

namespace evo {

// `for (...) sum += e;` with a step of one becomes a loop of two or four steps at a time with as many sums. Shortens the chain of dependent
// additions; reassociates, so the gate decides.
class AccumulatorSplit : public Mutator {
 public:
  std::string_view name() const override { return "accumulator_split"; }
  std::string_view description() const override { return "sums a loop into several accumulators"; }
  double weight() const override { return 1.5; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
