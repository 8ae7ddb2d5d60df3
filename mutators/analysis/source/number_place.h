#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// Whether the code still compiles if an arithmetic expression in a function's body, usually a literal, gets any other value,
// constant or not. It must be an operand, an argument, a subscript or the initialiser of a variable, and nothing that must be a
// constant may depend on it: the extent of an array, a template argument, a case label, an operand of inline assembly, or the
// condition of `if constexpr`. Conservative: false if its use is not understood.
bool MayBeAnyNumber(const SyntaxTree& tree, int expression);

}  // namespace evo
