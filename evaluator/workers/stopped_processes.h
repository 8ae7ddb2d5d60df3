#pragma once

#include <sys/types.h>

namespace evo {

// Whether a process of the group is stopped by a signal (SIGSTOP, SIGTSTP). Reads all of /proc.
bool AnyStopped(pid_t group);

}  // namespace evo
