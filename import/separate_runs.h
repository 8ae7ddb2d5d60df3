#pragma once

#include "import/host_code.h"

namespace evo {

// Whether the iterations of a loop around launches have nothing to do with one another, since each allocates all that its kernels
// get. Such a loop tries one size after another, and is no part of what is computed.
bool RunsSeparately(const SourceProgram& program, const HostCode& host, const HostLoop& loop);

}  // namespace evo
