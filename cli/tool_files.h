#pragma once

#include "platform/confinement.h"

namespace evo {

// The files of compile and breed workers and of the compilers that they start. Programs, libraries and headers can be read,
// wherever the environment says that they are, but never the user's home folder as a whole; the temporary folder can be written.
// Throws Error if evo's own files are not there.
FileAccess ToolFiles();

}  // namespace evo
