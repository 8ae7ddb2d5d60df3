#pragma once

#include <optional>
#include <set>

#include "syntax/syntax_tree.h"

namespace evo {

// Tells through which kernel parameters code stores and loads. data_flow.h only tells whether it does.

// Whether a declaration is a variable of array type.
bool IsLocalArray(const SyntaxTree& tree, int declaration);
// The declaration of `a` in `a`, `(a)`, `a.x` and, for local arrays, `a[i][j]`; -1 for anything else.
int Owner(const SyntaxTree& tree, int target);
// The operand that an assignment, an increment or a decrement changes, whether of scalar or of class type; -1 for other nodes.
int Assigned(const SyntaxTree& tree, int node);
// Whether a node stores to memory that is not a thread's own.
bool IsStore(const SyntaxTree& tree, int node);
// The parameter that a pointer expression is derived from; -1 if that is not clear.
int RootOf(const SyntaxTree& tree, int pointer);
// The pointer through which a node accesses memory: p for `p[i]` and `*p`; -1 for other nodes and for local arrays.
int PointerAt(const SyntaxTree& tree, int node);

// The parameters that a function stores through, and those that it, or a function that it calls, reads through. -1 in `read`
// stands for a read whose parameter is not clear.
struct Traffic {
  std::set<int> stored;
  std::set<int> read;
};
// nullopt if it is not clear which parameter some store goes through. Without what is in the statements `left_out`.
std::optional<Traffic> TrafficOf(const SyntaxTree& tree, int function, const std::set<int>& left_out = {});

}  // namespace evo
