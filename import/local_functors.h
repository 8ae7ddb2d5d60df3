#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program where kernels have function objects without fields as variables of their own, `Sum op{};`, that launches pass by
// value. The type of one that a template has as a parameter is written in the launches. nullopt if there are none such.
std::optional<std::string> WithLocalFunctors(const SourceProgram& program);

}  // namespace evo
