#pragma once

#include <optional>
#include <string>

#include "import/source_program.h"

namespace evo {

// The program's text with two allocations for one of which a kernel gets two parts, on the lines that it has: for
// `k<<<..>>>(x, x + MOST)` the elements from MOST on are a buffer of their own, as are copies of them, since a launch line passes
// whole buffers. Only where the offset is made of constants of the file that the kernel lacks (else it adds them, see
// pointer_offsets.h) and everything that the host does with the memory is known to stay within one part, or to set or copy both.
// That a kernel reads no more than its part is taken for granted, unless it has a larger bound or its part is the smaller one.
// nullopt if there is none; of several the first is split.
std::optional<std::string> WithSplitAllocation(const SourceProgram& program);

}  // namespace evo
