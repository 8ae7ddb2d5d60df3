#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "syntax/syntax_tree.h"

namespace evo {

// `a > b ? a : b`, `max(a, b)`, `fmaxf(a, b)`, `a + b`: how two expressions are combined, "+", "max" or "min".
struct Combination {
  std::string combine;
  int a = -1;
  int b = -1;
};
std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression);
// Whether an operator, as spelled, may combine many values in any order: `+`, `*`, `^`, `&` or `|`.
bool IsFold(std::string_view spelled);

}  // namespace evo
