#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with loops that count upwards as `for` loops with `<`: `int i = 0; while (i < n) { ..; i += step; }`, if `i` is used
// nowhere else, and `for (int i = 0; i != n; ++i)`, if `n` never changes. Counters are declared in their loops, `int i; for (i =
// 0; ..)`, and what `int i, row = blockIdx.x;` declares in a statement each. nullopt if there are none such.
std::optional<std::string> WithPlainLoops(const SyntaxTree& tree);

}  // namespace evo
