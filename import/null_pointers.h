#pragma once

#include <map>
#include <set>
#include <string>

namespace evo {

// By kernel, parameters for which the host passes no buffer, `nullptr`.
using NullPointers = std::map<std::string, std::set<std::string>>;
// The code with what kernels ask of such parameters answered, `false` for `mask != nullptr`, since a launch line passes a buffer
// for each pointer. What is not understood stays as it is.
std::string WithNullPointers(std::string code, const NullPointers& nulls);

}  // namespace evo
