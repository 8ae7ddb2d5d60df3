#pragma once

#include "mutators/mutator.h"

namespace evo {

// One parameter to the next declared value up or down.
class ParameterStep : public Mutator {
 public:
  std::string_view name() const override { return "parameter_step"; }
  std::string_view description() const override { return "moves one parameter to a neighbouring value"; }
  double weight() const override { return 3; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

// One parameter to any other declared value.
class ParameterDraw : public Mutator {
 public:
  std::string_view name() const override { return "parameter_draw"; }
  std::string_view description() const override { return "draws another value for one parameter"; }
  double weight() const override { return 2; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

// Two or three parameters at once, for steps that pay only together.
class ParameterMix : public Mutator {
 public:
  std::string_view name() const override { return "parameter_mix"; }
  std::string_view description() const override { return "draws other values for two or three parameters"; }
  double weight() const override { return 2; }
  std::optional<Mutation> Mutate(const MutationContext& context, Rng& rng) const override;
};

}  // namespace evo
