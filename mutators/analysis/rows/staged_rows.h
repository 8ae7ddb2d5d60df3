#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The body of a kernel in which no row waits in shared memory: where a loop stores `s[i] = x[i];` and later ones read `s[i]`,
// these compute what was stored anew. What is in it must not have changed by then. nullopt if no array is used in this way.
std::optional<std::string> WithoutStagedRows(const SyntaxTree& tree, int kernel);

}  // namespace evo
