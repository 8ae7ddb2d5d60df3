#pragma once

#include <vector>

#include "import/host_calls.h"
#include "import/source_program.h"

namespace evo {

// Whether a copy to the device has a vector or memory of the host as its source that is zeros where it is declared and that
// nothing changes until then: `std::vector<float> sums(n, 0.0f)`, `calloc(n, sizeof(float))`.
bool CopiesZeros(const SourceProgram& program, const std::vector<HostCall>& calls, const HostCall& copy);

}  // namespace evo
