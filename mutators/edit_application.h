#pragma once

#include <string>
#include <variant>

#include "core/genome.h"
#include "syntax/syntax_tree.h"

namespace evo {

// Why an edit could not be applied; one line.
struct EditDropped {
  std::string reason;
};

// Applies an edit to the source of `tree`, whole or not at all. Every anchor must name one node; replacements must not overlap.
std::variant<std::string, EditDropped> ApplyEdit(const SyntaxTree& tree, const Edit& edit);

}  // namespace evo
