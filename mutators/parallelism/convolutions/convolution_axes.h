#pragma once

#include <string>

#include "mutators/analysis/convolutions/convolution.h"

namespace evo {

// A part of the body of a convolution (convolution_text.h) with what follows from the number of its axes, and from whether it is
// transposed, in the place of the words for it: where a pixel's first tap is, where a tap is, and whether it is within the image.
// Lines that begin with VOLUME_ are those of volumes only.
std::string WithAxes(std::string text, const Convolution& found);

}  // namespace evo
