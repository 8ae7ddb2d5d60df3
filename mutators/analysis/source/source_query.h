#pragma once

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Tells about the shape of a tree. What code reads and writes is the subject of data_flow.h.

// A node and all nodes below it, in source order.
inline std::ranges::iota_view<int, int> Subtree(const SyntaxTree& tree, int node) { return {node, tree.EndOf(node)}; }
// All functions and function templates, defined or declared, in source order.
std::vector<int> Functions(const SyntaxTree& tree);
// All nodes of a kind, in source order.
std::vector<int> NodesOfKind(const SyntaxTree& tree, std::string_view kind);
// The first line of a node's text in backquotes, for messages.
std::string Quoted(const SyntaxTree& tree, int node);
// Whether a node is `ancestor` or below it.
bool IsWithin(const SyntaxTree& tree, int node, int ancestor);
// Whether a function is the definition of a kernel: `__global__`, with a body.
bool IsKernel(const SyntaxTree& tree, int function);
// A function's `__launch_bounds__(..)`, as the source itself says it; -1 for none.
int LaunchBoundsOf(const SyntaxTree& tree, int function);
// The last parameter of a function; -1 if it has none.
int LastParameter(const SyntaxTree& tree, int function);
// An expression without its outer parentheses. Those of a macro call stay, since they have no children.
int WithoutParentheses(const SyntaxTree& tree, int expression);
// The declaration that an expression names, also in parentheses; -1 if it is more than a name, or declared in another file.
int NamedDeclaration(const SyntaxTree& tree, int expression);
// Whether an expression converts another one: by a cast, or implicitly.
bool IsConversion(const SyntaxTree& tree, int expression);
// The name of the function that a call calls, if it is declared in another file; else empty.
std::string_view LibraryCallee(const SyntaxTree& tree, int call);
// Whether a node calls `__syncthreads`.
bool IsBlockBarrier(const SyntaxTree& tree, int node);
// The only statement of a body, with or without braces; -1 if there are more.
int OnlyStatement(const SyntaxTree& tree, int body);

// A `for` with all its parts.
struct ForLoop {
  int statement = -1;
  int pragma = -1;  // the `#pragma unroll` in front of it; -1 if there is none
  int init = -1;
  int condition = -1;
  int increment = -1;
  int body = -1;
};
// nullopt for a loop without one of init, condition and increment.
std::optional<ForLoop> AsForLoop(const SyntaxTree& tree, int node);
// A `for` whose init, condition and increment are -1 where it has none. nullopt for other nodes.
std::optional<ForLoop> AsAnyForLoop(const SyntaxTree& tree, int node);
// The pragma in front of a loop; -1 if there is none.
int PragmaOf(const SyntaxTree& tree, int loop);
// The node that a statement begins with: its pragma if it has one, else the statement itself.
int FirstNode(const SyntaxTree& tree, int statement);
// Whether a statement is directly in a block, so that others can be inserted before and after it.
bool IsInBlock(const SyntaxTree& tree, int statement);

// A type without leading const and volatile: "float" for "const float".
std::string WithoutConst(std::string type);
// The type that a parameter or variable points to, or of which it is an array, without const: `float` of `const float*`.
std::string PointedTo(const SyntaxTree& tree, int parameter);
// Whether a type is float, double, or an integer type of at least 16 bits.
bool IsArithmetic(std::string_view type);
// Whether it is a type of whole numbers, const or not.
bool IsIntegerType(const std::string& type);
// The indentation of the line that a node begins on; of a function's body, that of the function.
std::string IndentOf(const SyntaxTree& tree, int node);
// The text to insert before FirstNode() of a statement so that `line` gets a line of its own, indented like the statement.
std::string LineBefore(const SyntaxTree& tree, int statement, const std::string& line);
// The text without comments and without definitions of macros that nothing names, such as those whose uses are written out.
const std::string& CodeOf(const SyntaxTree& tree);
// `wanted`, with a number appended if the text already contains that word.
std::string FreshName(const SyntaxTree& tree, const std::string& wanted);
// The expression in parentheses, unless it is a name, a literal, a call or the like.
std::string Parenthesised(const SyntaxTree& tree, int expression);
std::string Parenthesised(const std::string& expression);
// Whether a text calls exp, expf, __expf, exp2f, hexp or the like.
bool CallsExponential(std::string_view text);

}  // namespace evo
