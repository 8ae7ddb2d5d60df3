#pragma once

#include <set>

#include "syntax/syntax_tree.h"

namespace evo {

// Tells what code reads and writes. The answers are conservative: code that is not understood counts as impure, and its variables
// as written. A macro call that may do more than stand for a constant counts as a read, a write and a call, and every variable
// that it names as written. "Memory" is everything that other code may change: what pointers and arrays point to, shared and
// file-scope variables, references, and local variables whose address is taken, to which a reference is bound, or which a lambda
// writes.

// The variable or element of which an lvalue is a member: `v` for `v.x` and `v.x.y`, not for `p->x`.
int WithoutMembers(const SyntaxTree& tree, int lvalue);
// Whether a node is an assignment, plain or compound.
bool IsAssignment(const SyntaxTree& tree, int node);
// Whether a node is an increment or a decrement.
bool IsCount(const SyntaxTree& tree, int node);
// The variables that a node changes or may change: they are assigned, incremented or decremented, their address is taken, or a
// reference is bound to them. A store through a pointer does not change the pointer itself.
std::set<int> WrittenIn(const SyntaxTree& tree, int node);
// The declarations that a node names.
std::set<int> NamedIn(const SyntaxTree& tree, int node);
// Whether a variable counts as memory in the sense above, although code uses it by its name.
bool IsMemoryName(const SyntaxTree& tree, int declaration);
// Whether a node stores to memory, or calls a function that may.
bool StoresIn(const SyntaxTree& tree, int node);
// Whether a node reads memory, or calls a function that may.
bool LoadsIn(const SyntaxTree& tree, int node);
// Whether it changes nothing to evaluate an expression twice or not at all. It consists of names, literals, arithmetic, loads,
// and calls of mathematical functions and of functions in this file that change only their own variables.
bool IsPure(const SyntaxTree& tree, int expression);
// Whether the function of a call is one of these. The arguments do not matter.
bool CallsPure(const SyntaxTree& tree, int call);
// Whether an expression is pure, loads nothing, and names no variable that `scope` writes or declares.
bool IsInvariant(const SyntaxTree& tree, int expression, int scope);
// The same for callers that ask about many expressions: `written` is WrittenIn(scope).
bool IsInvariant(const SyntaxTree& tree, int expression, int scope, const std::set<int>& written);

}  // namespace evo
