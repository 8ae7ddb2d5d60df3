#pragma once

#include <string>

namespace evo {

// The difference of two texts, line by line, in the unified format with three or four lines of context; empty if they are equal.
std::string UnifiedDiff(const std::string& from_name, const std::string& from, const std::string& to_name, const std::string& to);

}  // namespace evo
