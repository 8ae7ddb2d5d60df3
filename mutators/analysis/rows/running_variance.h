#pragma once

#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// A loop that finds the mean of some values and the sum of the squares of their distances from it in one pass (Welford): of parts
// with n_i values, the means m_i make the mean m, weighted by n_i, and the squares add up with n_i (m_i - m)^2 (Chan, Golub,
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979).
struct RunningVariance {
  int mean = -1;  // declarations
  int squares = -1;
  int count = -1;         // of the values so far; -1 if the loop's counter says it
  std::set<int> counted;  // the nodes that name the counter as the number of values so far
};

// The loop as such a one; nullopt if it does anything else. How it does it does not matter: its body runs on random numbers.
std::optional<RunningVariance> AsRunningVariance(const SyntaxTree& tree, const CountedLoop& loop);

}  // namespace evo
