#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/plain_source/struct_parameters.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The source with pointers to vectors that kernels take as pointers to their numbers: `const float4* a` as `const float*
// a_numbers`, whose uses are `reinterpret_cast<const float4*>(a_numbers)`. `declarations` gets what the new names are in the
// kernel as it is. nullopt if no kernel takes such pointers.
std::optional<std::string> WithoutVectorParameters(const SyntaxTree& tree, FieldDeclarations& declarations);

}  // namespace evo
