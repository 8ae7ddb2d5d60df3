#pragma once

#include <string>

#include "core/genome.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The text after an edit, or the reason why the edit was dropped.
struct AppliedEdit {
  std::string text;     // unchanged if dropped
  std::string dropped;  // one line; empty if applied
};

// Applies an edit to the text of `tree`, completely or not at all. An edit is dropped if an anchor is not found, if changes
// overlap, if a launch line is missing, or if `parameters` differ from those that it needs. It is also dropped if the name of a
// parameter that it brings occurs in the text, or if its constraints are not met. A line that becomes blank by a deletion is
// deleted. A change whose text is an `#include <..>` line is inserted after the other includes, wherever its anchor is, unless
// the text already contains it.
AppliedEdit ApplyEdit(const SyntaxTree& tree, const Parameters& parameters, const Edit& edit);

}  // namespace evo
