#include "mutators/genetic/crossover.h"

#include <algorithm>

#include "mutators/mutator.h"

namespace evo {
namespace {

// How often parameters are mixed before giving up. Few mixtures of two assignments may meet the constraints.
constexpr int kMixTries = 50;

void AppendNew(std::vector<Edit>& edits, const Edit& edit) {
  if (std::find(edits.begin(), edits.end(), edit) == edits.end()) edits.push_back(edit);
}

Parameters MixParameters(const MutationContext& context, Rng& rng) {
  const Parameters& first = context.genome.parameters;
  const Parameters& second = context.second_parent->parameters;
  for (int tries = 0; tries < kMixTries; ++tries) {
    Parameters mixed = first;
    for (auto& [name, value] : mixed) {
      const auto other = second.find(name);
      if (other != second.end() && rng.Chance(0.5)) value = other->second;
    }
    if (!context.kernel_template.space.Violated(mixed)) return mixed;
  }
  return first;
}

std::vector<Edit> OnePoint(const std::vector<Edit>& first, const std::vector<Edit>& second, Rng& rng) {
  std::vector<Edit> edits(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(rng.Below(first.size() + 1)));
  for (std::size_t i = rng.Below(second.size() + 1); i < second.size(); ++i) AppendNew(edits, second[i]);
  return edits;
}

std::vector<Edit> Union(const std::vector<Edit>& first, const std::vector<Edit>& second, Rng& rng) {
  std::vector<Edit> edits = first;
  for (const Edit& edit : second) {
    if (rng.Chance(0.5)) AppendNew(edits, edit);
  }
  return edits;
}

// Takes each parameter from either parent. Of the edits it takes either the front of one list and the back of the other, or all
// of one parent and some of the other. Never makes a child that equals a parent.
class Crossover : public Mutator {
 public:
  std::string_view name() const override { return kCrossover; }
  Promise promise() const override { return Promise::kInherited; }
  std::string_view description() const override {
    return "mixes the parameters and the edits of two parents of the same template";
  }
  double weight() const override { return 2; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const override {
    if (!context.second_parent || context.second_parent->template_digest != context.genome.template_digest) return std::nullopt;
    Genome child = context.genome;
    child.parameters = MixParameters(context, rng);
    const auto& first = context.genome.edits;
    const auto& second = context.second_parent->edits;
    child.edits = rng.Chance(0.5) ? OnePoint(first, second, rng) : Union(first, second, rng);
    if (child == context.genome || child == *context.second_parent) return std::nullopt;
    return child;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeCrossover() { return std::make_unique<Crossover>(); }

}  // namespace evo
