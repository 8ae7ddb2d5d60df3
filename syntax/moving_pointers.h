#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with pointers that stay where they are: `p[i]` for `*p++` in a loop over i from 0 on, `p[(long long)i * stride]` where
// each turn ends with `p += stride`, if nothing reads the pointer behind the loop. A pointer that is assigned anew has another
// name from there on, so that each has one buffer. nullopt if there are none such.
std::optional<std::string> WithoutMovingPointers(const SyntaxTree& tree);

}  // namespace evo
