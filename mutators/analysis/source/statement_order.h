#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// Tells whether statements may be reordered.

// Whether a statement has no control flow of its own and calls nothing that has side effects.
bool IsSimple(const SyntaxTree& tree, int statement);
// Whether neither of two statements names anything that the other changes or declares, and neither stores to memory that the
// other accesses. The caller makes sure that neither jumps or synchronises.
bool AreIndependent(const SyntaxTree& tree, int first, int second);
// Whether a statement neither jumps nor calls anything that has side effects, so that others may be moved past it.
bool IsPassable(const SyntaxTree& tree, int statement);

}  // namespace evo
