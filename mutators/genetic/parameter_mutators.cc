#include <algorithm>
#include <iterator>

#include "kernel_templates/parameter_use.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// How often several parameters are drawn before giving up. Most draws succeed, since a space has few constraints.
constexpr int kDrawTries = 200;

// The position of the present value in the parameter's list; one past the end if the template has changed since the genome was
// made.
std::size_t PlaceOf(const Parameter& parameter, const Parameters& values) {
  const auto present = values.find(parameter.name);
  if (present == values.end()) return parameter.values.size();
  return static_cast<std::size_t>(std::find(parameter.values.begin(), parameter.values.end(), present->second) -
                                  parameter.values.begin());
}

// A child with one of the assignments; nullopt if there are none.
std::optional<Genome> DrawOne(const MutationContext& context, const std::vector<Parameters>& allowed, Rng& rng) {
  if (allowed.empty()) return std::nullopt;
  Genome child = context.genome;
  child.parameters = allowed[rng.Below(allowed.size())];
  return child;
}

// Whether another value can make a difference: edits may have replaced all code that the parameter was for. Settings without a
// source have no text.
bool IsUseful(const MutationContext& context, const Parameter& parameter) {
  return context.rendered.text.empty() || IsParameterUsed(context.rendered.text, parameter.name);
}

std::vector<Parameter> UsefulOnes(const MutationContext& context, const SearchSpace& space) {
  std::vector<Parameter> useful;
  std::copy_if(space.parameters.begin(), space.parameters.end(), std::back_inserter(useful),
               [&](const Parameter& parameter) { return IsUseful(context, parameter); });
  return useful;
}

// The legal assignments that differ from the parent's in one parameter, if `reaches(from, to)` holds for the positions of its
// values.
template <typename Reaches>
std::vector<Parameters> Neighbours(const MutationContext& context, Reaches reaches) {
  const SearchSpace space = SpaceOf(context.kernel_template.space, context.genome);
  std::vector<Parameters> allowed;
  for (const Parameter& parameter : UsefulOnes(context, space)) {
    const std::size_t from = PlaceOf(parameter, context.genome.parameters);
    for (std::size_t to = 0; to < parameter.values.size(); ++to) {
      if (to == from || !reaches(from, to)) continue;
      Parameters values = context.genome.parameters;
      values[parameter.name] = parameter.values[to];
      if (!space.Violated(values)) allowed.push_back(std::move(values));
    }
  }
  return allowed;
}

class ParameterStep : public Mutator {
 public:
  std::string_view name() const override { return "parameter_step"; }
  Promise promise() const override { return Promise::kInherited; }
  std::string_view description() const override { return "moves one parameter to its next higher or lower value"; }
  double weight() const override { return 3; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const override {
    return DrawOne(context,
                   Neighbours(context, [](std::size_t from, std::size_t to) { return from + 1 == to || to + 1 == from; }), rng);
  }
};

class ParameterDraw : public Mutator {
 public:
  std::string_view name() const override { return "parameter_draw"; }
  Promise promise() const override { return Promise::kInherited; }
  std::string_view description() const override { return "gives one parameter another of its values"; }
  double weight() const override { return 2; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const override {
    return DrawOne(context, Neighbours(context, [](std::size_t, std::size_t) { return true; }), rng);
  }
};

class ParameterMix : public Mutator {
 public:
  std::string_view name() const override { return "parameter_mix"; }
  Promise promise() const override { return Promise::kInherited; }
  std::string_view description() const override { return "draws new values for several parameters at once"; }
  double weight() const override { return 1.5; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const override {
    const SearchSpace space = SpaceOf(context.kernel_template.space, context.genome);
    const std::vector<Parameter> useful = UsefulOnes(context, space);
    if (useful.size() < 2) return std::nullopt;
    for (int tries = 0; tries < kDrawTries; ++tries) {
      Parameters values = context.genome.parameters;
      // Changes half of the parameters on average, and at least two.
      std::size_t changed = 0;
      for (const Parameter& parameter : useful) {
        if (!rng.Chance(0.5)) continue;
        const std::int64_t drawn = parameter.values[rng.Below(parameter.values.size())];
        changed += drawn != values[parameter.name];
        values[parameter.name] = drawn;
      }
      if (changed < 2 || space.Violated(values)) continue;
      Genome child = context.genome;
      child.parameters = std::move(values);
      return child;
    }
    return std::nullopt;
  }
};

// Keeps a search from staying where its first points were.
class ParameterRandom : public Mutator {
 public:
  std::string_view name() const override { return "parameter_random"; }
  Promise promise() const override { return Promise::kInherited; }
  std::string_view description() const override { return "draws all parameters anew, whatever the parent has"; }
  std::optional<Genome> Mutate(const MutationContext& context, Rng& rng) const override {
    const SearchSpace space = SpaceOf(context.kernel_template.space, context.genome);
    const std::vector<Parameter> useful = UsefulOnes(context, space);
    if (useful.size() < 2) return std::nullopt;
    const auto drawn = space.Draw(rng);
    if (!drawn) return std::nullopt;
    // Those of no use keep their values where the constraints allow it, so that one program has one setting.
    Parameters values = context.genome.parameters;
    for (const Parameter& parameter : useful) values[parameter.name] = drawn->at(parameter.name);
    if (space.Violated(values)) values = *drawn;
    if (values == context.genome.parameters) return std::nullopt;
    Genome child = context.genome;
    child.parameters = std::move(values);
    return child;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeParameterStep() { return std::make_unique<ParameterStep>(); }
std::unique_ptr<Mutator> MakeParameterDraw() { return std::make_unique<ParameterDraw>(); }
std::unique_ptr<Mutator> MakeParameterMix() { return std::make_unique<ParameterMix>(); }
std::unique_ptr<Mutator> MakeParameterRandom() { return std::make_unique<ParameterRandom>(); }

}  // namespace evo
