#pragma once

#include <string>
#include <string_view>

#include "core/genome.h"

namespace evo {

// Writes the parameters and constraints that an edit brings into a text: `evo:param` and `evo:constraint` lines and the blocks
// `#ifndef NAME`, `#define NAME value`, `#endif`, as a template has them. From then on they are parameters of the text. One
// without a value has its first. `before` is the text without the edit: no name that it brings may occur there. Throws Error, in
// one line: a name is taken, a value is not legal, or a constraint is not met.
std::string DeclareBrought(const std::string& text, std::string_view before, const Edit& edit, const Parameters& present);

// Whether an identifier occurs in a text.
bool ContainsName(std::string_view text, std::string_view name);
// `wanted`, or with a number behind it if it occurs in the text: a name for a parameter that an edit brings.
std::string UnusedName(std::string_view text, const std::string& wanted);
// The text with another name in the place of an identifier, wherever it occurs.
std::string WithOtherName(const std::string& text, std::string_view name, std::string_view other);

}  // namespace evo
