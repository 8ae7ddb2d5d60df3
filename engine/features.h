#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace evo {

// How the values of one coordinate are compared: by their distance, or as equal or different only.
enum class FeatureKind { kOrdinal, kCategorical };

// A candidate as a point that a model is fitted to. All points of one model have the same length. Ordinal coordinates should
// range from 0 to 1.
using Features = std::vector<double>;

// How many times 2 divides a value: 0 for odd values and for 0. Sizes such as those of a block are often fast where a power of
// two divides them, which their magnitude does not show to a model.
int TimesDivisibleByTwo(std::int64_t value);
// Whether TimesDivisibleByTwo says of these values what their magnitudes do not: they are not all powers of two, and it differs
// among them. 0 is left aside, since it mostly means that something is off.
bool DivisibilityTells(std::span<const std::int64_t> values);

}  // namespace evo
