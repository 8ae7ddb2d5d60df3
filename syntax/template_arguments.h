#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with the arguments of function templates spelled out that calls leave to be deduced: types of values and what pointers
// point to, in functions that are no templates. nullopt if there are none such.
std::optional<std::string> WithTemplateArguments(const SyntaxTree& tree);

}  // namespace evo
