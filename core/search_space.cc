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

Variables ToVariables(const Parameters& values) {
  Variables variables;
  for (const auto& [name, value] : values) variables[name] = Number::Integer(value);
  return variables;
}

}  // namespace evo
