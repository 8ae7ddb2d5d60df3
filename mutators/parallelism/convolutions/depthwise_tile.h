#pragma once

#include <string>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/parallelism/convolutions/convolution_writer.h"

namespace evo {

// Bytes of shared memory that a block of a depthwise convolution needs for its tile and its filter, as the launch line says it,
// or with numbers for all sizes.
std::string PlaneTileBytes(const ConvolutionParameters& names, const Convolution& found, bool in_launch);

}  // namespace evo
