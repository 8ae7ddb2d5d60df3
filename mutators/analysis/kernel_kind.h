#pragma once

#include <string>

#include "mutators/mutator.h"

namespace evo {

// What the kernels of a source compute, as far as the recognisers know it: operators that won on a kernel of one kind may win on
// another of it. "attention": rows of softmax(Q K) V; "convolution": of two dimensions; "contraction": sums of products over an
// index that the output lacks; "rows": each thread works alone on a row; "elements": each on an element; empty: none of these.
// The first that fits any of the kernels.
std::string KernelKind(const MutationContext& context);

}  // namespace evo
