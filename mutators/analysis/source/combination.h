#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// `a > b ? a : b`, `max(a, b)`, `fmaxf(a, b)`, `a + b`: how two expressions are combined, "+", "max" or "min".
struct Combination {
  std::string combine;
  int a = -1;
  int b = -1;
};
std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression);
// Whether it is `fmaf(a, b, c)` or another spelling of a product that is added.
bool IsFusedProduct(const SyntaxTree& tree, int call);
// Whether an operator, as spelled, may combine many values in any order: `+`, `*`, `^`, `&` or `|`.
bool IsFold(std::string_view spelled);
// Whether a result of these elements that begins with a value, as spelled, is the same as one without it. An element of -1 is a
// product.
bool IsNeutral(const SyntaxTree& tree, const std::string& combine, const std::string& type, std::string initial,
               const std::vector<int>& elements);
// With which a result may begin where its kernel has no such value; empty if that is not known.
std::string NeutralOf(const std::string& combine, const std::string& type);

}  // namespace evo
