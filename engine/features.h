#pragma once

#include <vector>

namespace evo {

// How the values of one coordinate compare: by their distance, or only as equal or different.
enum class FeatureKind { kOrdinal, kCategorical };

// What a model is told of a candidate. All points of one model have the same length, ordinal coordinates preferably from 0 to 1.
using Features = std::vector<double>;

}  // namespace evo
