#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with objects of the source's own classes that a function makes for itself as variables of their fields: a view of a
// matrix with `operator()`. Their methods only return an expression, and nothing else is done with them. Those that a kernel
// takes by value become variables at its begin, if it calls methods of them. nullopt if there are none.
std::optional<std::string> WithoutLocalObjects(const SyntaxTree& tree);

}  // namespace evo
