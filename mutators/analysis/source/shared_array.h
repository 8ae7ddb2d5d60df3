#pragma once

#include <optional>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Tells about arrays in shared memory, and in constant memory.

// Whether a variable is declared `__shared__`.
bool IsShared(const SyntaxTree& tree, int variable);
// Whether a variable is declared `__constant__`.
bool IsConstantMemory(const SyntaxTree& tree, int variable);
// Whether a variable at file scope is in global memory, `__device__ int count;`, and no constant.
bool IsDeviceVariable(const SyntaxTree& tree, int variable);
// The array or variable in shared memory of which an expression is an element; -1 for other expressions, and for rows.
int SharedArrayOf(const SyntaxTree& tree, int expression);
// Of an element of an array of several dimensions, `s[i]` for `s[i][j]`; any other expression without its parentheses.
int WithoutRows(const SyntaxTree& tree, int expression);
// The extents of an array type: 32 and 33 for "float[32][33]"; 0 for an extent that is not known.
std::vector<long long> ExtentsOf(const std::string& type);

// The last extent of an array, separated into an expression and padding: `32 + 1`.
struct Extent {
  int node = -1;
  std::string text;  // as spelled, without the padding
  int pad = 0;
};
std::optional<Extent> LastExtent(const SyntaxTree& tree, int variable);

// The nodes `a[i][j]` of all uses of an array. nullopt if a use does not directly read or write one element, because it may
// depend on the distance between rows.
std::optional<std::vector<int>> ElementsOf(const SyntaxTree& tree, int variable, std::size_t dimensions);

}  // namespace evo
