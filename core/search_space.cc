#include "core/search_space.h"

#include <fmt/format.h>

namespace evo {

Parameters SearchSpace::Defaults() const {
  Parameters values;
  for (const Parameter& parameter : parameters) values[parameter.name] = parameter.initial;
  return values;
}

std::optional<std::string> SearchSpace::Violated(const Parameters& values) const {
  const Variables variables = ToVariables(values);
  for (const Expression& constraint : constraints) {
    if (constraint.EvaluateInteger(variables) == 0) return constraint.text();
  }
  return std::nullopt;
}

std::optional<Parameters> SearchSpace::Draw(Rng& rng, int tries) const {
  for (int i = 0; i < tries; ++i) {
    Parameters values;
    for (const Parameter& parameter : parameters) values[parameter.name] = parameter.values[rng.Below(parameter.values.size())];
    if (!Violated(values)) return values;
  }
  return std::nullopt;
}

SearchSpace SpaceOf(const SearchSpace& of_template, const Genome& genome) {
  SearchSpace space = of_template;
  for (const Edit& edit : genome.edits) {
    for (const auto& [name, values, initial] : edit.brings) space.parameters.push_back({name, values, initial});
    for (const std::string& constraint : edit.constraints) space.constraints.push_back(Expression::Parse(constraint));
  }
  return space;
}

Variables ToVariables(const Parameters& values) {
  Variables variables;
  for (const auto& [name, value] : values) variables[name] = Number::Integer(value);
  return variables;
}

}  // namespace evo
