#pragma once

#include <string_view>

namespace evo {

// Parts of the body of a convolution by tiles, in this order, each with a newline before it. Words that end with _ stand for what
// the source says. Where there is a choice: a word has a bit for each tap, or coordinates are compared.
extern const std::string_view kConvolutionBegin, kConvolutionPlace;
extern const std::string_view kFirstFilter, kFirstFilterOfGroup;  // within kConvolutionPlace: the block's filters
extern const std::string_view kPlacesByMask, kPlacesByCompare;
extern const std::string_view kLinesByMask, kLinesByCompare;  // the former also for floats
extern const std::string_view kConvolutionLoop;
extern const std::string_view kLoadFilters, kLoadInnerFilters;
extern const std::string_view kLoadByMask, kLoadByCompare;
extern const std::string_view kConvolutionProducts, kConvolutionStores;
// The whole body for floats.
extern const std::string_view kFloatConvolution;
// And for one channel a group.
extern const std::string_view kDepthwiseConvolution;

// Parts for floats on tensor cores, in this order: kSplitBegin, kConvolutionPlace, places, lines, kSplitLoop, filters, loads,
// kSplitStep, kConvolutionStores. Where there is a choice besides that of masks: one row has no coordinates down.
extern const std::string_view kSplitBegin;
extern const std::string_view kSplitPlacesByMask, kSplitPlacesByCompare, kSplitPlacesInRow;
extern const std::string_view kSplitLinesByCompare, kSplitLinesInRow;
extern const std::string_view kSplitLoop;
extern const std::string_view kSplitLoadFilters, kSplitLoadInnerFilters;
extern const std::string_view kSplitLoad;
// Whether a tap is within the image.
extern const std::string_view kSplitWithinByMask, kSplitWithinByCompare, kSplitWithinInRow;
extern const std::string_view kSplitStep;
// Declares the sum of an element, `total`, before what the kernel does with it.
extern const std::string_view kSplitTotal;

}  // namespace evo
