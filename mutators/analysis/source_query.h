#pragma once

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Questions that mutators ask of the shape of a tree; those about what code does are in data_flow.h.

// The node and all below it, in source order.
inline std::ranges::iota_view<int, int> Subtree(const SyntaxTree& tree, int node) { return {node, tree.EndOf(node)}; }
// All functions and function templates, defined or declared, in source order.
std::vector<int> Functions(const SyntaxTree& tree);
// All nodes of a kind, in source order.
std::vector<int> NodesOfKind(const SyntaxTree& tree, std::string_view kind);
bool IsWithin(const SyntaxTree& tree, int node, int ancestor);
// Function definitions with `__global__`.
bool IsKernel(const SyntaxTree& tree, int function);
// What is within parentheses. Those of a macro call have nothing in them.
int WithoutParentheses(const SyntaxTree& tree, int expression);
// The declaration that an expression names, through parentheses; -1 if it is more than a name or declared elsewhere.
int NamedDeclaration(const SyntaxTree& tree, int expression);
// Of a call: the name of the function called if it is declared outside of the file; else empty.
std::string_view LibraryCallee(const SyntaxTree& tree, int call);

// A `for` with all its parts.
struct ForLoop {
  int statement = -1;
  int pragma = -1;  // of its `#pragma unroll`; -1 if none
  int init = -1;
  int condition = -1;
  int increment = -1;
  int body = -1;
};
// nullopt for a loop without one of init, condition and increment.
std::optional<ForLoop> AsForLoop(const SyntaxTree& tree, int node);
// The pragma in front of a loop; -1 if none.
int PragmaOf(const SyntaxTree& tree, int loop);
// Where a statement begins, its pragma included.
int FirstNode(const SyntaxTree& tree, int statement);
// A child of a block, so that statements may be put beside it.
bool IsInBlock(const SyntaxTree& tree, int statement);

// "float" for "const float".
std::string WithoutConst(std::string type);
// float, double, and the integers of C.
bool IsArithmetic(std::string_view type);
// White space in front of the line that the node begins on.
std::string IndentOf(const SyntaxTree& tree, int node);
// Text that, put before FirstNode() of a statement, gives `line` a line of its own, as far in as the statement.
std::string LineBefore(const SyntaxTree& tree, int statement, const std::string& line);
// `wanted`, or with a number behind it if the text already has that word.
std::string FreshName(const SyntaxTree& tree, const std::string& wanted);
// In parentheses unless it is a name, a literal, a call or the like.
std::string Parenthesised(const SyntaxTree& tree, int expression);
std::string Parenthesised(const std::string& expression);

}  // namespace evo
