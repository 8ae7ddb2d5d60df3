#pragma once

#include "syntax/syntax_tree.h"

namespace evo {

// The lambda that a variable is; -1 if it is none.
int LambdaOf(const SyntaxTree& tree, int variable);

// Whether what a lambda captures is the same wherever it is called: nothing else has its name, and copies do not change.
bool CapturesTheSame(const SyntaxTree& tree, int lambda);

}  // namespace evo
