#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// By the name of a kernel, names of parameters and the macros in whose place they stand.
using SizeNames = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

// The source with the macros of `evo:size` as parameters of the kernels that name them, also in its launch lines; nullopt if no
// kernel does, or where it has to be a constant, as the extent of an array. `sizes` gets these parameters.
std::optional<std::string> WithSizeParameters(const MutationContext& context, SizeNames& sizes);

}  // namespace evo
