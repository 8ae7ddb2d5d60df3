#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {

// Tells how threads and blocks share a kernel's work: by its launch line and the indices that it computes.

// The launch line of a kernel; null if there is none or more than one.
const LaunchDirective* OnlyLaunch(const KernelTemplate& rendered, std::string_view kernel);
// The first launch line of a kernel whose launch lines differ in nothing but the buffers and the real numbers that they pass, as
// those of two steps do, forth and back; null if there is none.
const LaunchDirective* AlikeLaunches(const MutationContext& context, int kernel);
// Whether two texts consist of the same tokens, apart from outer parentheses.
bool SameTokens(std::string_view a, std::string_view b);
// Every value that an expression of parameters can take; empty if it names anything else or has too many values.
std::vector<std::int64_t> ValuesOf(const Expression& expression, const KernelTemplate& rendered);
// A change of one dimension of the grid or the block. The other dimensions stay.
LaunchChange WithDimension(const LaunchDirective& launch, std::string_view field, std::size_t axis, const std::string& text);
// The dimension of a grid whose blocks take `size` elements instead of `extent`: `ceil_div(n, size)` if it was `ceil_div(n,
// extent)`, else `otherwise`.
std::string BlocksOf(const Expression& grid, const std::string& extent, const std::string& size, const std::string& otherwise);

// The uses of a member of a built-in variable, such as `threadIdx.x`, within `scope`, in source order. Axis 0 is x.
std::vector<int> BuiltinUses(const SyntaxTree& tree, int scope, std::string_view builtin, std::size_t axis);
// Whether a built-in variable is used outside of `scope`, in a macro, or as a whole rather than by a member.
bool IsUsedElsewhere(const SyntaxTree& tree, int scope, std::string_view builtin);
// Whether code makes the threads of a block depend on each other: by barriers, shuffles, votes, atomics, shared memory, or
// functions that store. Without `shuffles_too`, shuffles are left out, since they only involve the lanes of one warp; so are the
// calls `left_out`.
bool Cooperates(const SyntaxTree& tree, int scope, bool shuffles_too = true, const std::set<int>& left_out = {});

// An index that a statement of a kernel's outermost block declares: `const int row = blockIdx.x * BLOCK + threadIdx.x;`. The
// kernel uses blockIdx and threadIdx nowhere else in this dimension.
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
// The same, also with a number added to it: `blockIdx.x * BLOCK + threadIdx.x + 1`.
std::vector<ThreadIndex> MovedThreadIndices(const MutationContext& context);
// The same for `i = blockIdx.x * E + ...` with any E and any further terms. Only blockIdx must be used nowhere else; `thread` is
// -1.
std::vector<ThreadIndex> BlockIndices(const MutationContext& context);

}  // namespace evo
