#pragma once

#include <optional>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// One step of an accumulation, a statement of its own: `sum += f`, `++n`, `sum = sum + f`, `sum = fmaf(a, b, sum)`,
// `top = fmaxf(top, f)`, or `if (f > top) top = f;`. With a place: `if (f > top) { top = f; place = c; }`, so that the first of
// equal values counts.
struct Update {
  int accumulator = -1;
  std::string combine;     // "+", the name of a function such as "fmaxf", or with a place the comparison, "<" or ">"
  std::vector<int> names;  // all nodes that name the accumulator
  int place = -1;          // declaration
  int at = -1;             // what the place becomes
};
std::optional<Update> UpdateAt(const SyntaxTree& tree, int node);
// The same, also of `sum -= f` and `sum = sum - f`: what several threads have so is added up, too.
std::optional<Update> IncreaseOrDecreaseAt(const SyntaxTree& tree, int node);

// The nodes below `scope` that name a declaration, -1 for a macro that does.
std::vector<int> NamesOf(const SyntaxTree& tree, int scope, int declaration);
// The function of an extreme, "max" or "min", of this type: "fmaxf".
std::string ExtremeOf(std::string_view which, const std::string& type);

}  // namespace evo
