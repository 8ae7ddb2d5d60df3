#pragma once

#include "platform/confinement.h"

namespace evo {

// The files of compile and breed workers and of the compilers that they start. Programs, libraries and headers can be read,
// wherever the environment says that they are, but never the user's home folder as a whole; the temporary folder can be written.
// Throws Error if evo's own files are not there.
FileAccess ToolFiles();

// The files of a run worker that owns a GPU: as above, and the GPU's devices, shared memory and what the driver has of itself in
// /proc and /run.
FileAccess DriverFiles();

}  // namespace evo
