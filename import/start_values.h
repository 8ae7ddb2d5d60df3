#pragma once

#include <string>
#include <vector>

#include "import/host_calls.h"
#include "import/source_program.h"

namespace evo {

// What all elements have that a copy takes to the device, if nothing else is ever written to its source, a vector or memory of
// the host: "0", or a number with which maxima and minima begin, as the program spells it: "-INFINITY". It is where a computation
// starts, and no input of it. Understood are `std::vector<float> sums(n, 0.0f)`, calloc, memset, std::fill and one loop over the
// elements. Empty for anything else.
std::string StartValue(const SourceProgram& program, const std::vector<HostCall>& calls, const HostCall& copy);

}  // namespace evo
