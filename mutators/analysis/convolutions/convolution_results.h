#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution_kernel_text.h"
#include "mutators/mutator.h"

namespace evo {

// Launches that were found to leave a convolution, as a kernel with a thread an element that leaves the same.
struct LaunchedConvolution {
  ConvolutionKernelText text;  // without the kernel's name
  Parameters parameters;       // the only values for which it was shown
  // What the launches left with some sizes, where buffers had these numbers and arguments these values.
  std::vector<std::pair<LaunchRuns::Sizes, BufferContents>> left;
  std::vector<std::string> buffers;
  std::map<std::string, double> reals;
};

// Found by running all launches of a source, or only one of them, on numbers and comparing what they leave with the definition,
// for several sizes, of which one is beyond all numbers of the code. It does not matter how threads share the work. nullopt if
// they leave something else, with the reason where somebody may ask, or if threads race.
std::optional<LaunchedConvolution> FindConvolutionByResults(const MutationContext& context, const LaunchDirective* only,
                                                            std::string& why);

// Whether a source in which this kernel has the place of the launches leaves the same.
bool LeavesTheSame(const MutationContext& context, const std::string& kernel, const LaunchedConvolution& found);

}  // namespace evo
