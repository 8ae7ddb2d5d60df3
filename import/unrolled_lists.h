#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program's text with a statement for each element in the place of loops over a list that is spelled in their head,
// `for (float** p : {&a, &b}) cudaMalloc(p, bytes);`, on the same lines. nullopt if there are none.
std::optional<std::string> WithUnrolledLists(const SourceProgram& program);

}  // namespace evo
