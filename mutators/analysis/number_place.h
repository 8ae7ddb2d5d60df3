#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// Whether an expression of arithmetic type, a number above all, in a function's body may have any other value, known when
// compiling or not, and the code still compile: it is an operand, an argument, a subscript or the beginning of a variable, and
// nothing that has to be known when compiling is made of it, such as the length of an array, a template argument, a label, an
// operand of inline assembly or the condition of `if constexpr`. Conservative: what is not understood is no such place.
bool MayBeAnyNumber(const SyntaxTree& tree, int expression);

}  // namespace evo
