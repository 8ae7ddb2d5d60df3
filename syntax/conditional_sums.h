#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with sums under a condition on data as sums of a conditional value: `if (x[i] > t) sum += y[i];` becomes
// `sum += x[i] > t ? y[i] : 0;`, and the part of the condition before the first that loads stays one. Of `n++`, too, of
// `found = 1;` where `found` is zero before and written nowhere else, and of `atomicAdd(count, 1)` and `atomicOr`. nullopt if
// there are none such.
std::optional<std::string> WithConditionalSums(const SyntaxTree& tree);

}  // namespace evo
