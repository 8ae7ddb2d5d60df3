#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"

namespace evo {

// The shapes of which all taps lie as those of this sample do, those of images before those of volumes. Without the outermost
// extent of images, height or depth, where channels are neighbours, and without the number of filters unless these are
// neighbours. `values` are numbers that sizes may be.
std::vector<ConvolutionShape> ShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& values,
                                           std::int64_t groups);

// The shapes of transposed convolutions of images whose taps without remainders lie as those of this sample do. The number of
// filters is set where it follows from these.
std::vector<ConvolutionShape> TransposedShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& values);

// The shapes of convolutions of images with one channel a group, whose taps lie as those of this sample do, with so many groups.
// Without heights; of one group and filters of one row without widths.
std::vector<ConvolutionShape> DepthwiseShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& of_groups);

}  // namespace evo
