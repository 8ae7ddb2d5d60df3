#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with calls of the source's own device functions and of lambdas that are local variables written out where they are
// called: those that are a statement, or the whole value that one stores, of functions that return at their end only; and
// everywhere those that only return an expression. One level of calls; nullopt if there are none such.
std::optional<std::string> WithCallsInlined(const SyntaxTree& tree);

}  // namespace evo
