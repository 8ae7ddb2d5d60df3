#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// A number of groups that a convolution may have: a size of the launch line, or a constant.
struct ConvolutionGroups {
  std::string name;  // empty: a constant
  std::int64_t constant = 0;
  // How many there are in three launches: a size differs in them.
  std::int64_t In(std::size_t launch) const;
};

// What may be the number of groups of a kernel, because its parameters or sizes of its launch line are divided by it:
// `channels / groups`. Empty for kernels without such a quotient, so that they take no longer.
std::vector<ConvolutionGroups> GroupsNamedBy(const SyntaxTree& tree, const LaunchRuns& runs);

}  // namespace evo
