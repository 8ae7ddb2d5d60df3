#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/genome.h"
#include "core/rng.h"

namespace evo {

// A tunable `#define` and the values that a search may give it, ascending. `initial` is one of them.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t initial = 0;
};

// The parameters of one template and the constraints that their values must meet.
struct SearchSpace {
  std::vector<Parameter> parameters;
  std::vector<Expression> constraints;

  Parameters Defaults() const;
  // The text of the first constraint that is not met; nullopt if all are met. Precondition: every parameter has a value.
  std::optional<std::string> Violated(const Parameters& values) const;
  // A uniformly drawn assignment that meets the constraints; nullopt if `tries` draws met none.
  std::optional<Parameters> Draw(Rng& rng, int tries = 200) const;
};

// The space of a genome: its template's, with the parameters and constraints that its edits bring. Throws Error for a constraint
// that is no expression.
SearchSpace SpaceOf(const SearchSpace& of_template, const Genome& genome);

// The parameters as integer variables for expressions.
Variables ToVariables(const Parameters& values);

}  // namespace evo
