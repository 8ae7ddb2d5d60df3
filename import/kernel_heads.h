#pragma once

#include <cstdint>
#include <vector>

#include "import/host_calls.h"

namespace evo {

// Where a kernel is declared or defined.
struct KernelHead {
  std::vector<SourceRange> parameters;
  std::uint32_t body = 0;  // offset behind the `{` of a definition; 0: a declaration
};

// All heads of the kernel; empty if none is a definition, or one has another number of parameters.
std::vector<KernelHead> HeadsOf(const SourceProgram& program, const HostCalls& calls, const ProgramFunction& kernel);

}  // namespace evo
