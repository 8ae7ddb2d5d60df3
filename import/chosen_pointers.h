#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program's text with two variables in the place of each array of two pointers of a function, of which only elements are
// named: `buffers[step % 2]` is `((step % 2) == 0 ? buffers_0 : buffers_1)`, and what a loop does for both of them stands there
// twice. nullopt if there is none.
std::optional<std::string> WithoutPointerPairs(const SourceProgram& program);

// The program's text with two launches in the place of each that chooses between two pointers in two of its arguments,
// `k<<<..>>>( odd ? b : a, odd ? a : b)`: `if (odd) k<<<..>>>(b, a); else k<<<..>>>(a, b);`. nullopt if there is none.
std::optional<std::string> WithChosenLaunches(const SourceProgram& program);

}  // namespace evo
