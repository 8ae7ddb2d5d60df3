#pragma once

#include <string_view>

#include "core/evaluation.h"

namespace evo {

// The kinds of the instructions in all functions of a cubin that was made for `arch` ("sm_90a"). Not known for architectures
// other than sm_75 to sm_90a. Throws Error if `cubin` is not a 64-bit ELF file. Takes a few microseconds.
InstructionMix CountInstructions(std::string_view cubin, std::string_view arch);

}  // namespace evo
