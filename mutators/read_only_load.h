#pragma once

#include "mutators/mutator.h"

namespace evo {

// `p[i]` as a value, p a pointer parameter that the kernel never writes through, becomes `__ldg(&p[i])` or a cache-hinted load, or back.
class ReadOnlyLoad : public Mutator {
 public:
  std::string_view name() const override { return "read_only_load"; }
  std::string_view description() const override { return "loads through the read-only path or with a cache hint"; }
  double weight() const override { return 1.5; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
