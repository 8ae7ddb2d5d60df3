#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/scans/running_sum.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {

// A variable or local array in which a loop accumulates a sum, a maximum or a minimum, and that it uses for nothing else.
struct Accumulation {
  int declaration = -1;
  std::string combine;     // "+", or the name of the function: "fmaxf"; with a place "<" or ">"
  std::string length;      // of an array, as spelled; empty for a scalar
  bool from_zero = false;  // whether a scalar sum is zero when the loop begins
  // Of a maximum, the code that fits a sum to it, with `@` for what it was before: see online_sum.h. Empty for others.
  std::string rescale;
  // Of the parts of a running variance, lines before the code that combines them, with `@thread` for the number of the thread and
  // `@count` for how many there are.
  std::vector<std::string> prepare;
  // Of an extreme, the variable that gets the counter of the first turn that has it; -1 if there is none.
  int place = -1;
};

// A loop whose iterations can be divided among threads whose variables have the same values: its only effects are accumulations
// and stores to elements that the counter selects; what it stores may depend on a running sum.
struct SharedLoop {
  CountedLoop counted;
  std::vector<Accumulation> accumulations;
  bool stores = false;
  std::optional<RunningSum> running;  // then there are no accumulations
  // The nodes that name the counter as the number of turns before, from which a running variance has it.
  std::set<int> counted_turns;
};
// nullopt if the node is no such loop.
std::optional<SharedLoop> AsSharedLoop(const SyntaxTree& tree, int node);

// Whether a variable is zero when the loop begins: declared as zero in the same block and not written in between.
bool StartsAtZero(const SyntaxTree& tree, int declaration, int loop);

// The threads that share a loop, as expressions of the source.
struct RowThreads {
  std::string name;   // variable with the thread's number
  std::string count;  // how many threads there are
};
// The changes that divide a loop without a running sum among threads. All threads but the first begin sums at zero; the caller
// adds the code that combines the accumulations.
std::vector<Proposal::Change> ShareLoop(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads);
// What stands before and after the code that combines an accumulation, by lines; none for most.
struct AroundCombining {
  std::vector<std::string> before, after;
};
AroundCombining AroundCombiningOf(const SyntaxTree& tree, const Accumulation& accumulation, const RowThreads& threads);
// A statement that accumulates b in a: `a += b;` or `a = fmaxf(a, b);`.
std::string Combined(const std::string& combine, const std::string& a, const std::string& b);

}  // namespace evo
