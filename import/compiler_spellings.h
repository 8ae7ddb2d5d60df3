#pragma once

#include <string>

namespace evo {

// A program's text as the parser takes it, where nvcc takes more: `register` becomes white space, and the brackets of a launch
// that stand apart, `k << <grid, block>> >(..)` as an editor of C++ writes them, come together. No character changes its line,
// and what else a line has stays in its column.
std::string WithKnownSpellings(std::string text);

}  // namespace evo
