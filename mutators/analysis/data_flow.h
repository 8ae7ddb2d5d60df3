#pragma once

#include <set>

#include "syntax/syntax_tree.h"

namespace evo {

// Questions that mutators ask about what code reads, writes and needs. They are conservative: what is not understood counts as
// written, impure, dependent. A macro call that may do more than stand for a constant reads, writes and calls; what it names
// counts as written. Memory is all that others may change meanwhile: what pointers and arrays lead to, shared and file-scope
// variables, references, and local variables whose address is taken, that a reference is bound to or that a lambda writes.

// An assignment, compound or not; a count (++, --).
bool IsAssignment(const SyntaxTree& tree, int node);
bool IsCount(const SyntaxTree& tree, int node);
// Declarations that are, or may be, changed within a node: assigned, counted, their address taken, bound to a reference. A store
// through a pointer changes what it points to and not the pointer.
std::set<int> WrittenIn(const SyntaxTree& tree, int node);
// Declarations that are named within a node.
std::set<int> NamedIn(const SyntaxTree& tree, int node);
// Whether a variable is memory in the sense above, though it is used by its name.
bool IsMemoryName(const SyntaxTree& tree, int declaration);
// Stores to memory, or calls that may.
bool StoresIn(const SyntaxTree& tree, int node);
// Reads from memory.
bool LoadsIn(const SyntaxTree& tree, int node);
// Evaluating it twice or not at all changes nothing: names, literals, arithmetic, loads, calls of the mathematical functions
// and of functions of the file that change nothing but their own variables.
bool IsPure(const SyntaxTree& tree, int expression);
// Of a call: its function is one of these, whatever the arguments are.
bool CallsPure(const SyntaxTree& tree, int call);
// Pure, no load, and nothing it names is written within `scope` or declared inside it.
bool IsInvariant(const SyntaxTree& tree, int expression, int scope);
// The same for who asks of many expressions: `written` is WrittenIn(scope).
bool IsInvariant(const SyntaxTree& tree, int expression, int scope, const std::set<int>& written);

}  // namespace evo
