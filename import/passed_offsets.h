#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program's text with kernels that get as a number what the host adds to a pointer, on the lines that it has:
// `k<<<..>>>(x + first, n)` is `k<<<..>>>(x, first, n)`, and the kernel adds it, since a launch line passes whole buffers.
// Constants that are the same in all launches of a kernel stay (pointer_offsets.h), as do pointers that are declared const.
// nullopt if there are none.
std::optional<std::string> WithPassedOffsets(const SourceProgram& program);

}  // namespace evo
