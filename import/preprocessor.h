#pragma once

#include <string_view>
#include <vector>

namespace evo {

// What the preprocessor makes of a line.
struct PreprocessedLine {
  bool active = true;   // it may be compiled
  bool decided = true;  // of a line with #if: all of its conditions have a known value
};

// Evaluates the conditions of a text with the macros that it defines itself. What depends on macros of the compiler, such as
// __CUDA_ARCH__, is not decided: all of its branches are active.
std::vector<PreprocessedLine> PreprocessedLines(std::string_view text);

}  // namespace evo
