#pragma once

#include "mutators/mutator.h"

namespace evo {

// Uniform crossover of parameters; of the edits, those of the first parent and each of the second's with one chance in two. Needs two
// parents of one template.
class Crossover : public Mutator {
 public:
  std::string_view name() const override { return "crossover"; }
  std::string_view description() const override { return "mixes parameters and edits of two parents of one template"; }
  double weight() const override { return 3; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
