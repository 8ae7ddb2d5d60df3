#pragma once

#include <optional>
#include <string>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Questions about arrays in shared memory.

// Declared `__shared__`.
bool IsShared(const SyntaxTree& tree, int variable);
// The extents that a type ends with: 32 and 33 of "float[32][33]"; 0 for one that is not known.
std::vector<long long> ExtentsOf(const std::string& type);

// An extent as it is spelled, without the literal that is added at its end.
struct Extent {
  int node = -1;
  std::string text;
  int pad = 0;
};
std::optional<Extent> LastExtent(const SyntaxTree& tree, int variable);

// The nodes `a[i][j]` of all uses of an array; nullopt if one does not read or write an element there and then, so that somebody
// may know how far apart the rows are.
std::optional<std::vector<int>> ElementsOf(const SyntaxTree& tree, int variable, std::size_t dimensions);

}  // namespace evo
