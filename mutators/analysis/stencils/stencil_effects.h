#pragma once

#include <set>

#include "mutators/mutator.h"

namespace evo {

// The statements by which the threads of a kernel change more than elements of their own, so that it does not matter in which
// order they do so: atomic operations whose result nobody uses, `atomicAdd(error, d * d);`, calls of functions that consist of
// such, and flags, `*changed = 1;`, that always get the same number. The kernel does nothing else with the memory behind them.
std::set<int> StencilEffects(const MutationContext& context, int kernel);
// Whether a node is within one of these statements.
bool IsOfEffects(const SyntaxTree& tree, const std::set<int>& effects, int node);

// The `if` statements that decide nothing but numbers which are computed of elements: they read and store nothing, no thread
// leaves in them, and all that they assign are variables of real numbers that decide nothing themselves.
std::set<int> ChoicesOfReals(const SyntaxTree& tree, int kernel);

}  // namespace evo
