#pragma once

#include <vector>

namespace evo {

// How the values of one coordinate are compared: by their distance, or as equal or different only.
enum class FeatureKind { kOrdinal, kCategorical };

// A candidate as a point that a model is fitted to. All points of one model have the same length. Ordinal coordinates should
// range from 0 to 1.
using Features = std::vector<double>;

}  // namespace evo
