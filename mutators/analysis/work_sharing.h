#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source_query.h"
#include "mutators/mutator.h"

namespace evo {

// Questions about how threads and blocks share a kernel's work: its launch line, the indices it reads, the loops that it counts.

// The launch line of a kernel; null if there is none or more than one.
const LaunchDirective* OnlyLaunch(const KernelTemplate& rendered, std::string_view kernel);
// Tokens of two texts are the same, outer parentheses aside.
bool SameTokens(std::string_view a, std::string_view b);
// Every value that an expression of parameters can take; empty if it names anything else, or there are very many.
std::vector<std::int64_t> ValuesOf(const Expression& expression, const KernelTemplate& rendered);
// A change of one dimension of the grid or the block, the others as they are.
LaunchChange WithDimension(const LaunchDirective& launch, std::string_view field, std::size_t axis, const std::string& text);
// The dimension of a grid when a block takes `size` instead of `extent`: `ceil_div(n, extent)` with the other size; `otherwise`
// if it has another form.
std::string BlocksOf(const Expression& grid, const std::string& extent, const std::string& size, const std::string& otherwise);

// Nodes of `threadIdx.x` and the like within a node, in source order; axis 0 for x.
std::vector<int> BuiltinUses(const SyntaxTree& tree, int scope, std::string_view builtin, std::size_t axis);
// Whether a builtin is used elsewhere than in `scope`, in a macro, or not by its members.
bool IsUsedElsewhere(const SyntaxTree& tree, int scope, std::string_view builtin);
// Barriers, shuffles, votes, atomics, stores by functions, shared memory: whatever ties the threads of a block together.
// Shuffles tie the lanes of a warp together only.
bool Cooperates(const SyntaxTree& tree, int scope, bool shuffles_too = true);

// `const int row = blockIdx.x * BLOCK + threadIdx.x;` as a statement of a kernel's own block, all that the kernel says of these
// indices in this dimension.
struct ThreadIndex {
  int kernel = -1;
  int statement = -1;    // the DeclStmt
  int declaration = -1;  // of `row`
  int extent = -1;       // `BLOCK`, the block's size in this dimension
  int thread = -1;       // `threadIdx.x`
  int block = -1;        // `blockIdx.x`
  std::size_t axis = 0;
  const LaunchDirective* launch = nullptr;
};
std::vector<ThreadIndex> ThreadIndices(const MutationContext& context);
// The same for `i = blockIdx.x * E + ...` whatever E and the rest are: the block's number, named once, moves the index on by E.
// `thread` is -1.
std::vector<ThreadIndex> BlockIndices(const MutationContext& context);

}  // namespace evo
