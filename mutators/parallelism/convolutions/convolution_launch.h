#pragma once

#include <string>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/mutator.h"
#include "mutators/parallelism/convolutions/convolution_writer.h"

namespace evo {

// The names by which a kernel knows its numbers of images and of filters; of parameters that it gets if it has none for them.
std::string NameOfImages(const SyntaxTree& tree, const Convolution& found);
std::string NameOfFilters(const SyntaxTree& tree, const Convolution& found);

// The changes that put the writer's body in the place of the kernel's, and its grid and block in the launch line. Without what
// the form says of shared memory, parameters and constraints.
Proposal ConvolutionChanges(const SyntaxTree& tree, const Convolution& found, const ConvolutionWriter& writer);

}  // namespace evo
