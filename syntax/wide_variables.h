#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with local variables of `int` in the place of shorter integers that are only assigned numbers of 32 bits and stored to
// elements of their type: `uint8_t best = 0; .. best = (uint8_t)c; .. label[i] = best;`. The store shortens the number as the
// assignment did. nullopt if there are none.
std::optional<std::string> WithWideVariables(const SyntaxTree& tree);

}  // namespace evo
