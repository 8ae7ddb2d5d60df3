#include "mutators/genetic/crossover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// How often parameters are mixed before giving up. Few mixtures of two assignments may meet the constraints.
constexpr int kMixTries = 50;

bool Contains(const std::vector<Edit>& edits, const Edit& edit) {
  return std::find(edits.begin(), edits.end(), edit) != edits.end();
}

bool Brings(const std::vector<Edit>& edits, const std::string& name) {
  return std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) {
    return std::any_of(edit.brings.begin(), edit.brings.end(), [&](const auto& brought) { return brought.name == name; });
  });
}

void Rename(Edit& edit, const std::string& name, const std::string& other) {
  for (SourceChange& change : edit.source) change.text = WithOtherName(change.text, name, other);
  for (LaunchChange& change : edit.launch) change.text = WithOtherName(change.text, name, other);
  for (std::string& constraint : edit.constraints) constraint = WithOtherName(constraint, name, other);
  for (BroughtParameter& brought : edit.brings) {
    if (brought.name == name) brought.name = other;
  }
}

// The edits of a child under way, and the values of the parameters that they bring.
struct Taken {
  std::vector<Edit> edits;
  Parameters brought;

  // An edit whose parameters keep the values that its parent has. Two edits that are not the same may bring a name each: the
  // later one's gets a number.
  void Append(Edit edit, const Parameters& of_parent) {
    if (Contains(edits, edit)) return;
    Parameters values;
    const std::vector<BroughtParameter> own = edit.brings;
    for (const BroughtParameter& one : own) {
      const auto present = of_parent.find(one.name);
      std::string name = one.name;
      for (int number = 2; Brings(edits, name); ++number) name = fmt::format("{}_{}", one.name, number);
      if (name != one.name) Rename(edit, one.name, name);
      values[name] = present == of_parent.end() ? one.initial : present->second;
    }
    brought.merge(values);
    edits.push_back(std::move(edit));
  }
};

Parameters MixParameters(const MutationContext& context, Rng& rng) {
  const Genome& second = *context.second_parent;
  const SearchSpace space = SpaceOf(context.kernel_template.space, context.genome);
  // What an edit brings can be mixed if both have the edit.
  Parameters own;
  for (const Edit& edit : context.genome.edits) {
    if (Contains(second.edits, edit)) continue;
    for (const BroughtParameter& brought : edit.brings) own[brought.name] = brought.initial;
  }
  for (int tries = 0; tries < kMixTries; ++tries) {
    Parameters mixed = context.genome.parameters;
    for (auto& [name, value] : mixed) {
      const auto other = second.parameters.find(name);
      if (other != second.parameters.end() && !own.contains(name) && rng.Chance(0.5)) value = other->second;
    }
    if (!space.Violated(mixed)) return mixed;
  }
  return context.genome.parameters;
}

Taken OnePoint(const Genome& first, const Genome& second, Rng& rng) {
  Taken taken;
  const std::size_t front = rng.Below(first.edits.size() + 1);
  for (std::size_t i = 0; i < front; ++i) taken.Append(first.edits[i], first.parameters);
  for (std::size_t i = rng.Below(second.edits.size() + 1); i < second.edits.size(); ++i)
    taken.Append(second.edits[i], second.parameters);
  return taken;
}

Taken Union(const Genome& first, const Genome& second, Rng& rng) {
  Taken taken;
  for (const Edit& edit : first.edits) taken.Append(edit, first.parameters);
  for (const Edit& edit : second.edits) {
    if (rng.Chance(0.5)) taken.Append(edit, second.parameters);
  }
  return taken;
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
    Genome first = context.genome;
    first.parameters = MixParameters(context, rng);
    Taken taken = rng.Chance(0.5) ? OnePoint(first, *context.second_parent, rng) : Union(first, *context.second_parent, rng);
    child.parameters = first.parameters;
    RemoveBrought(child.parameters, first.edits, {});
    child.parameters.merge(taken.brought);
    child.edits = std::move(taken.edits);
    if (child == context.genome || child == *context.second_parent) return std::nullopt;
    return child;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeCrossover() { return std::make_unique<Crossover>(); }

}  // namespace evo
