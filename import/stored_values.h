#pragma once

#include <optional>

#include "import/host_code.h"

namespace evo {

// What a function stores in a variable that it gets by its address, `read(&n)`; what is not understood is kUnknown. nullopt if no
// call gets the address of a variable that its function only declares.
std::optional<HostExpression> StoredByCall(const SourceProgram& program, HostCode& host, const ProgramVariable& variable);

}  // namespace evo
