#pragma once

#include <optional>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// `atomicAdd(&H[bin], amount);`, a statement of its own.
struct CountAddition {
  int call = -1;
  int use = -1;           // the name `H`, or that of a variable that points into it
  std::vector<int> bins;  // whose sum is the bin
  int amount = -1;
};

// The addition that a call is, whatever the pointer is; nullopt for other calls.
std::optional<CountAddition> AsCountAddition(const SyntaxTree& tree, int call);

// Whether an addition of an amount is under the condition that this is more than 0: `if (amount > 0) atomicAdd(.., amount);`
bool IsPositiveThere(const SyntaxTree& tree, int addition, int amount);

// Whether a name is that of a parameter that points to integers of 32 bits.
bool IsParameterOfCounts(const SyntaxTree& tree, int use);

// Whether all arrays that a kernel adds to by atomics are in shared memory, and there are some.
bool CountsForItsBlock(const SyntaxTree& tree, int kernel);

}  // namespace evo
