#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with structs that are nothing but an array, `struct alignas(16) Half8 { half2 h[4]; }`, as arrays of its elements:
// pointers to such a struct point to elements, variables of it are arrays, and a copy of it is a loop. nullopt if there are none,
// or if one is used in another way.
std::optional<std::string> WithoutArrayStructs(const SyntaxTree& tree);

}  // namespace evo
