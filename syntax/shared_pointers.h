#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text without local pointers that stand for an array in shared memory and never change: `float* s = reinterpret_cast<float*>
// (raw)` becomes an array of that type, if nothing else names `raw`; another name for an array of its own type goes; and a
// pointer that a struct of the source gives, which has nothing but conversions to such an array, becomes the array. nullopt if
// there are none such.
std::optional<std::string> WithoutSharedPointers(const SyntaxTree& tree);

}  // namespace evo
