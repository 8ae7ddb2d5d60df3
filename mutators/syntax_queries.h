#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Questions that several mutators ask of a tree.

std::vector<int> NodesOfKind(const SyntaxTree& tree, std::string_view kind_name);

// Functions marked __global__, as definitions.
std::vector<int> Kernels(const SyntaxTree& tree);

// Everything spelled in a node that looks like a name.
std::set<std::string> NamesIn(std::string_view text);
// Names that a statement assigns to, declares, or changes through ++ and --; the outermost name of `a[i].x = ...` is `a`.
std::set<std::string> NamesWritten(const SyntaxTree& tree, int node);
// True if the statement does something that must not be moved across others: calls a barrier or any function for its effect, returns,
// breaks, or is one of the compiler's.
bool HasOrderedEffect(const SyntaxTree& tree, int node);

// White space in front of a node on its line, if nothing else stands there.
std::string IndentOf(const SyntaxTree& tree, int node);
// True if only white space stands between the start of the line and the node.
bool StartsItsLine(const SyntaxTree& tree, int node);
// The preprocessor line right above a node, without its end; empty range if there is none.
std::optional<SourceRange> DirectiveAbove(const SyntaxTree& tree, int node);

// The operator of a binary or compound assignment node: "+", "+=", "/".
std::string OperatorOf(const SyntaxTree& tree, int node);

// The node that implicit conversions wrap.
int Unwrapped(const SyntaxTree& tree, int node);

}  // namespace evo
