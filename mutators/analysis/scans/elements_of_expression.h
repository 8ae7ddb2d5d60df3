#pragma once

#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source whose launch lines name sizes in one expression only, `(1 << k) + 3` or `width * height`, with one size in its place.
struct ElementsOfExpression {
  std::string expression;
  KernelTemplate rendered;
};

// For each integer that launch lines pass and that is such an expression. The steps are those of the source.
std::vector<ElementsOfExpression> ElementsOfExpressions(const MutationContext& context);

}  // namespace evo
