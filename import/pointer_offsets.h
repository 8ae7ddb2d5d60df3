#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "import/host_code.h"

namespace evo {

// What an argument adds to a pointer, `data + RADIUS` or `&data[RADIUS]`, if it is a number, or one of constants of the file that
// are among the words of the device code.
std::optional<std::string> ConstantOffset(HostCode& host, const SourceProgram& program, const SourceRange& argument, int function,
                                          const std::set<std::string>& words);

// By kernel and parameter, elements that the host adds to what it passes.
using PointerOffsets = std::map<std::string, std::map<std::string, std::string>>;
// The code with kernels that add them themselves, since a launch line passes whole buffers. A kernel whose body is not found
// stays as it is.
std::string WithPointerOffsets(std::string code, const PointerOffsets& offsets);

}  // namespace evo
