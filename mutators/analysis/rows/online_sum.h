#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {

// A loop that finds the largest of some values, `top`, and the sum of the exponentials of what each is above it, `sum`, in one
// pass: it rescales the sum where the largest grows. Two such pairs make one: (max(m, n), s * exp(m - max(m, n)) + ..).
struct OnlineSum {
  int top = -1;  // declarations
  int sum = -1;
  std::string type;         // of both: "float" or "double"
  std::string exponential;  // the function: "expf", "exp2f"
};

// The loop as such a one; nullopt if it does anything else. How it does it does not matter: its body runs on random numbers.
std::optional<OnlineSum> AsOnlineSum(const SyntaxTree& tree, const CountedLoop& loop);

}  // namespace evo
