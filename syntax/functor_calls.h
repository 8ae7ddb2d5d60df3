#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with calls of methods of the source's own structs without fields written out, `op(a, b)` as `(a + b)`: of those that
// do nothing but return an expression of their arguments. nullopt if there are none such.
std::optional<std::string> WithoutFunctorCalls(const SyntaxTree& tree);

}  // namespace evo
