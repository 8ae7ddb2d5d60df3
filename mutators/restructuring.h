#pragma once

#include <string>
#include <vector>

namespace evo {

// The operators that divide the work of a kernel anew among threads, warps and blocks, where an analysis finds the structure that
// they need. They are few, they seldom apply, and their children differ from the parent by factors. Sorted.
std::vector<std::string> Restructuring();

}  // namespace evo
