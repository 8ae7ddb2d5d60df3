#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Parts of a source and what takes their place.
using Splices = std::vector<std::pair<SourceRange, std::string>>;

// The source with the splices, which must not overlap; nullopt if there are none. Of several insertions at one place the first
// comes first.
std::optional<std::string> Spliced(const SyntaxTree& tree, Splices splices);

// Whether an expression changes nothing and waits for nobody, as far as its own text says; functions that it calls are not looked
// into.
bool OnlyComputes(const SyntaxTree& tree, int expression);

}  // namespace evo
