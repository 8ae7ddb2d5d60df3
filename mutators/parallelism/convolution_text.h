#pragma once

#include <string_view>

namespace evo {

// Parts of the body of a convolution by tiles, in this order, each with a newline before it. Words that end with _ stand for what
// the source says. Where there is a choice: a word has a bit for each tap, or coordinates are compared.
extern const std::string_view kConvolutionBegin;
extern const std::string_view kPlacesByMask, kPlacesByCompare;
extern const std::string_view kLinesByMask, kLinesByCompare;
extern const std::string_view kConvolutionLoop;
extern const std::string_view kLoadFilters, kLoadInnerFilters;
extern const std::string_view kLoadByMask, kLoadByCompare;
extern const std::string_view kConvolutionProducts;
// The whole body for floats.
extern const std::string_view kFloatConvolution;

}  // namespace evo
