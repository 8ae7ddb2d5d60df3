#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// Other texts of a source in which a kernel does the same by statements that are known of contractions.

// With a condition that compares the two indices of the kernel's elements, such as `column <= row`, around what follows the loop
// of the sum instead of around the sum: for a product of which one half is stored. Elements with equal indices are stored, so
// that the sums of all elements read nothing else. nullopt if it has none.
std::optional<std::string> WithLateCondition(const MutationContext& context, int kernel);

// With a declaration for each of a kernel's integers. nullopt if each has its own.
std::optional<std::string> WithSingleDeclarations(const MutationContext& context, int kernel);

// With the batches of a kernel that numbers the elements of each by one index along z instead of along y, and without its loop
// over these elements. nullopt if it is none.
std::optional<std::string> WithBatchesAlongZ(const MutationContext& context, int kernel);

// With vectors of bytes in the place of words that point into buffers of bytes: `sum = __dp4a(a, b, sum)` becomes a sum of four
// products. nullopt if it has none.
std::optional<std::string> WithWordsAsBytes(const MutationContext& context, int kernel);

}  // namespace evo
