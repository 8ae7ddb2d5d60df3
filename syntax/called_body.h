#pragma once

#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// The declaration that an expression names, also in parentheses; -1 if it is more than a name.
int NamedAlone(const SyntaxTree& tree, int expression);
// Whether an operator changes its first operand.
bool ChangesFirst(std::string_view spelled);
// Whether a text has directives other than pragmas: what they leave out may be there with other values of parameters.
bool HasConditions(std::string_view text);
// Whether the body of a function changes nothing but its variables and parameters, as far as can be seen.
bool ChangesOnlyItsOwn(const SyntaxTree& tree, int body, const std::vector<int>& parameters);

}  // namespace evo
