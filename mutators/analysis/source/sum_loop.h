#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// A loop in which a variable sums up something: `float sum = 0; for (int k = 0; k < n; ++k) sum += f(k);`.
struct SumLoop {
  CountedLoop loop;      // from 0 in steps of 1, below its bound
  int accumulator = -1;  // declaration of `sum`
  int start = -1;        // what it starts with; -1 if that is 0
  int update = -1;       // `sum += f(k)`, `sum = sum + f(k)` or `sum = fmaf(f(k), g(k), sum)`
  int added = -1;        // `f(k)`, or the call of fmaf
};

// The only such loop in these statements. Else why there is none. With `by_words`, `sum = __dp4a(f(k), g(k), sum)` is an update,
// too, and the call is what it adds.
std::variant<SumLoop, std::string> OnlySumLoop(const SyntaxTree& tree, const std::vector<int>& statements, bool by_words = false);

// Whether a library function is fmaf or the same for another type or by another name.
bool IsFusedMultiplyAdd(std::string_view callee);
// Whether it adds the products of the four bytes of two words.
bool IsWordProduct(std::string_view callee);

}  // namespace evo
