#pragma once

#include "mutators/mutator.h"

namespace evo {

// `__launch_bounds__(threads, blocks)`: the threads are the launch line's own block size, the blocks are drawn. Trades registers for
// occupancy. Safe as long as the launch line keeps its block size; a launch beyond it fails and is seen to fail.
class LaunchBounds : public Mutator {
 public:
  std::string_view name() const override { return "launch_bounds"; }
  std::string_view description() const override { return "sets, changes or removes __launch_bounds__ of a kernel"; }
  double weight() const override { return 1; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
