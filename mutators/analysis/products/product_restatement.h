#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with a matrix product, whatever its kernel's loops, pointers, shared memory and unrolled statements are, as a kernel
// in which each thread adds up the products of one element in the order of k, with the same statements after the sum. It is found
// by running the kernel's threads on numbers for several sizes: each sum must be that of A and B by rows or columns, and each of
// its steps must add the next product. Threads that have to run together take long, and are not run if another template is a
// product as it is. nullopt, with the reason, if it is none; without one if nobody would take it for one.
std::optional<std::string> RestatedProduct(const MutationContext& context, int kernel, std::string& why);

}  // namespace evo
