#pragma once

#include <set>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// Whether the iterations of a loop with the body `node` may run in any order, and interleaved. `own` lists outside declarations
// of which every iteration has its own copy. The conditions are:
// - variables and memory outside of the node are only accumulated (`s += f`, `a[i] += f`, `s = fmaxf(s, f)`) and never read, or
//   they are array elements that only one iteration writes: `a[i][j]` with every counter in `counters` as a subscript;
// - memory that is read is not written here under any name;
// - the node neither communicates with other threads nor jumps.
// Sums may then be added in another order.
bool IterationsCommute(const MutationContext& context, int node, const std::set<int>& counters, const std::set<int>& own);

// A part of a loop's body.
struct LoopPart {
  std::vector<int> nodes;
  int counter = -1;  // declaration
};
// Whether two parts of loops over the same counter values depend on each other at most within the same iteration. All iterations
// of one part may then run before those of the other, or interleaved with them. The parts may share elements of a thread's own
// arrays that have the counter as a subscript.
bool AreApart(const MutationContext& context, const LoopPart& first, const LoopPart& second);

// Whether a statement stores to global memory what an iteration has computed, without loading anything: `out[i] = sum;`.
bool IsFinalStore(const MutationContext& context, int statement);

// Whether a declaration is a thread's own array that no pointer points to.
bool IsOwnArray(const SyntaxTree& tree, int declaration);
// The declaration of `a` in `a[i][j]`; -1 if the base is not a name.
int ArrayOf(const SyntaxTree& tree, int element);

}  // namespace evo
