#pragma once

#include <optional>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// A loop that stores sums of all terms up to a turn: `sum += f(c); y[c] = sum;`, or without the turn's own term. Its turns are
// independent of each other but for the sum.
struct RunningSum {
  int sum = -1;                 // declaration
  int update = -1;              // the assignment, a statement of the loop's body
  int term = -1;                // what it adds
  std::vector<int> statements;  // declarations of the body that the term needs, in source order
  bool exclusive = false;       // whether the sum without the turn's own term is read,
  bool inclusive = false;       // and whether the sum with it is
};
// The sum; nullopt if the body does anything else with it. Of what the body stores this says nothing.
std::optional<RunningSum> AsRunningSum(const SyntaxTree& tree, const CountedLoop& loop);

}  // namespace evo
