#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// `a > b ? a : b`, `max(a, b)`, `fmaxf(a, b)`, `a + b`: how two expressions are combined, "+", "max" or "min".
struct Combination {
  std::string combine;
  int a = -1;
  int b = -1;
};
std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression);

}  // namespace evo
