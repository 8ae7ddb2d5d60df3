#pragma once

#include <optional>
#include <set>

#include "syntax/syntax_tree.h"

namespace evo {

// Where code stores to and loads from, beyond what data_flow.h says: by the kernel parameter that the pointer comes from.

// A variable of a function that is an array.
bool IsLocalArray(const SyntaxTree& tree, int declaration);
// The declaration of `a` in `a`, `(a)` and, for local arrays, `a[i][j]`; -1 for anything else.
int Owner(const SyntaxTree& tree, int target);
// The operand that an assignment or a count changes, also one of a class type; -1 for other nodes.
int Assigned(const SyntaxTree& tree, int node);
// An assignment to memory that is not a thread's own.
bool IsStore(const SyntaxTree& tree, int node);
// The parameter that a pointer expression goes back to; -1 if it is not clear.
int RootOf(const SyntaxTree& tree, int pointer);
// Of a node that reads or writes memory: the pointer expression that leads there; -1 for other nodes.
int PointerAt(const SyntaxTree& tree, int node);

// The parameters that a function stores through and those that it, or what it calls, reads through; -1 among the latter is a read
// whose parameter is not clear.
struct Traffic {
  std::set<int> stored;
  std::set<int> read;
};
// nullopt where it is not clear what is stored to.
std::optional<Traffic> TrafficOf(const SyntaxTree& tree, int function);

}  // namespace evo
