#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// Whether statements may change places.

// A statement without control flow of its own that calls nothing for its effect.
bool IsSimple(const SyntaxTree& tree, int statement);
// Two statements of which neither says a name that the other changes or declares, and that do not meet in memory. Whoever asks
// makes sure that neither jumps or synchronises.
bool AreIndependent(const SyntaxTree& tree, int first, int second);
// Whether a statement neither jumps nor calls anything for its effect, so that others may be moved past it.
bool IsPassable(const SyntaxTree& tree, int statement);

}  // namespace evo
