#pragma once

#include <set>
#include <vector>

#include "mutators/analysis/counted_loop.h"

namespace evo {

// Whether a node may run for one iteration after another in any order, and the steps of several iterations in turn. `own` holds
// the declarations that every iteration has for itself; what the node declares is its own anyway. Then:
// - what is written, and lies outside, is only summed up or maximised (`s += f`, `a[i] += f`, `s = fmaxf(s, f)`) and never looked
// at,
//   or is an element of a thread's own array that the iteration alone has: `a[i][j]` by all counters in `counters`;
// - what is read from memory is never written here, under any other name;
// - no thread meets another, and nothing jumps.
// Sums may come out in another order.
bool IterationsCommute(const MutationContext& context, int node, const std::set<int>& counters, const std::set<int>& own);

// Whether two parts of loops over the same values of a counter have nothing to do with each other but in the same iteration, so
// that all iterations of one may run before the other, or both in turn. They share elements of a thread's own arrays at most,
// named by the counter.
struct LoopPart {
  std::vector<int> nodes;
  int counter = -1;
};
bool AreApart(const MutationContext& context, const LoopPart& first, const LoopPart& second);

// Whether a statement that runs once an iteration, behind the rest, only stores: to global memory or a thread's own array, what
// the iteration has computed.
bool IsFinalStore(const MutationContext& context, int statement);

// An array variable of the thread alone that no pointer leads to.
bool IsOwnArray(const SyntaxTree& tree, int declaration);
// The declaration at the root of `a[i][j]`; -1 if it is no name.
int ArrayOf(const SyntaxTree& tree, int element);

}  // namespace evo
