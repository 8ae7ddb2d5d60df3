#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "import/host_code.h"
#include "import/source_program.h"

namespace evo {

// The type that a template's parameter `t` stands for in a call or launch, which spells `arguments` between its angle brackets:
// what it says there, or else what follows from the variables that it passes. Parameters of the host's own templates are
// followed to their first callers. Empty if nobody says.
std::string TypeArgumentOf(const SourceProgram& program, const HostCode& host, const HostCall& call,
                           const std::vector<std::string>& arguments, const ProgramFunction& called, std::size_t t);

// A parameter's type as libclang has it, with the arguments of its template in their places; empty ones stay out.
std::string WithTypeArguments(std::string type, const std::vector<std::string>& arguments);

}  // namespace evo
