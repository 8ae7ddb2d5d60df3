#pragma once

#include <string>

#include "story/unified_diff.h"

namespace evo {

// A unified diff for a terminal: what is removed in red, what is added in green, hunk headers in cyan, file names in bold.
std::string Coloured(const std::string& unified_diff);

}  // namespace evo
