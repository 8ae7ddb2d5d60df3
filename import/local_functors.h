#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program where kernels have function objects without fields as variables of their own, `Sum op{};`, that launches pass by
// value. The type of one that a template has as a parameter is written in the launches. nullopt if there are none such.
std::optional<std::string> WithLocalFunctors(const SourceProgram& program);

// The class of an object without fields that an expression of the host is, `Sum()` or a variable; empty if it is none, or if
// callers pass it.
std::string FunctorTypeOf(const SourceProgram& program, const SourceRange& argument, int function);

}  // namespace evo
