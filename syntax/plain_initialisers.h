#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with `int x = a;` in the place of `int x{a};` and `int x = {a};`, for local variables that are numbers; `int x{};` is
// zero. nullopt if there are none.
std::optional<std::string> WithPlainInitialisers(const SyntaxTree& tree);

}  // namespace evo
