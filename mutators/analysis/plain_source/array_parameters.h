#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/plain_source/struct_parameters.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The source with pointers to arrays that kernels take as pointers to their elements: `float (*a)[W]` and `float a[H][W]` as
// `float* a_elements`, whose elements `a[i][j]` are `a_elements[(i) * (W) + (j)]`. `declarations` gets what the new names are in
// the kernel as it is. nullopt if no kernel takes such pointers.
std::optional<std::string> WithoutArrayParameters(const SyntaxTree& tree, FieldDeclarations& declarations);

}  // namespace evo
