#pragma once

#include <string>

#include "core/genome.h"
#include "syntax/syntax_tree.h"

namespace evo {

// A text with an edit in it, or why it could not be applied.
struct AppliedEdit {
  std::string text;     // unchanged if dropped
  std::string dropped;  // one line; empty if applied
};

// Applies an edit to the text of `tree`, whole or not at all. It is dropped if an anchor is not found, if changes overlap, if a
// launch line is missing or if `parameters` differ from what it needs. A line that a deletion leaves blank goes too. A change
// whose text is `#include <..>` and a line end goes to the other includes, wherever its anchor is, unless it is there.
AppliedEdit ApplyEdit(const SyntaxTree& tree, const Parameters& parameters, const Edit& edit);

}  // namespace evo
