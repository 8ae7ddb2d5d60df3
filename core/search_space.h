#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/genome.h"
#include "core/rng.h"

namespace evo {

// A tunable `#define` with the values a search may give it, ascending as declared; `initial` is one of them.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t initial = 0;
};

// The parameters of one template and what must hold among them.
struct SearchSpace {
  std::vector<Parameter> parameters;
  std::vector<Expression> constraints;

  Parameters Defaults() const;
  // The first constraint that is not met, as text; nullopt if all are. Every parameter needs a value.
  std::optional<std::string> Violated(const Parameters& values) const;
  // A uniformly drawn assignment that meets the constraints; nullopt if `tries` draws met none.
  std::optional<Parameters> Draw(Rng& rng, int tries = 200) const;
};

// Parameters as integer variables of an expression.
Variables ToVariables(const Parameters& values);

}  // namespace evo
