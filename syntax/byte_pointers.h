#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with rows that are a number of bytes apart as rows of elements: `(p + (y * pitch) / 4)` for
// `(float*)((char*)p + y * pitch)`, which is the same where it points to an element. nullopt if there are none such.
std::optional<std::string> WithoutBytePointers(const SyntaxTree& tree);

}  // namespace evo
