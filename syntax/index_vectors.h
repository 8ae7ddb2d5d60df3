#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with local vectors of integers of which only the parts are named as a variable for each part:
// `dim3 step(gridDim.x * blockDim.x, 2);` and `int2 at = make_int2(x, y);`. nullopt if there are none.
std::optional<std::string> WithoutIndexVectors(const SyntaxTree& tree);

}  // namespace evo
