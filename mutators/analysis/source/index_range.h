#pragma once

#include <cstdint>
#include <optional>

#include "mutators/mutator.h"

namespace evo {

// How large an integer expression of a kernel gets at most.
struct LargestIndex {
  std::int64_t value = 0;
  Parameters parameters;  // those on which the value rests, with their present values
};

// Of sums, products, quotients and remainders of constants, of threads' numbers in blocks whose size the launch line says, of the
// counters of counted loops, and of variables that are one of these. Assumes that no part of it is negative, as in a subscript of
// which every part is an offset. nullopt if anything else decides it.
std::optional<LargestIndex> LargestIndexOf(const MutationContext& context, int expression);

}  // namespace evo
