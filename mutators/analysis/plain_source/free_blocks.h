#pragma once

#include <optional>
#include <set>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text without the `__launch_bounds__` of kernels, which rule out the blocks of operators that choose their own; nullopt if
// there are none. `kernels` gets the names of those that had some.
std::optional<std::string> WithoutLaunchBounds(const SyntaxTree& tree, std::set<std::string>& kernels);

}  // namespace evo
