#pragma once

#include <cstddef>
#include <string>

#include "import/host_code.h"
#include "import/source_program.h"

namespace evo {

// The type that the type parameter `t` of a host function stands for: what its first caller gives for it, as in `run<float>(x)`,
// or else what follows from the variables that it passes. Empty if nobody says.
std::string HostTypeArgument(const SourceProgram& program, const HostCode& host, int function, std::size_t t);

// A type that is spelled in that function, with those types in the place of its parameters, where they are known.
std::string WithHostTypes(const SourceProgram& program, const HostCode& host, std::string type, int function);

// Whether a type still names a template's parameter.
inline bool HasTypeParameter(const std::string& type) { return type.find("type-parameter-") != std::string::npos; }

}  // namespace evo
