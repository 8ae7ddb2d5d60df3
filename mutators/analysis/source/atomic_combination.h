#pragma once

#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// How an atomic combines a value with what is in memory: "+", "max", "min", "*", "^", "&" or "|"; empty for other nodes. Besides
// `atomicAdd(p, x)` and the like, these are functions of the file that combine by a loop of compare and swap, as everybody writes
// them for the maximum of floats: `do { assumed = old; old = atomicCAS(a, assumed, __float_as_int(fmaxf(x,
// __int_as_float(assumed)))); } while (assumed != old);`.
std::string AtomicCombine(const SyntaxTree& tree, int call);

// Whether a node is a call of any atomic of CUDA, or of such a function.
bool IsAtomicCall(const SyntaxTree& tree, int node);

}  // namespace evo
