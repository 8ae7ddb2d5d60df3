#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The source with loops of kernels that count several integers at once, `for (int j = a, i = 0; i < n; j++, i++)`, as loops of
// the one that the condition compares: the others are computed from it, `const int j = (a) + i;`. nullopt if there are none.
std::optional<std::string> WithSingleCounters(const SyntaxTree& tree);

}  // namespace evo
