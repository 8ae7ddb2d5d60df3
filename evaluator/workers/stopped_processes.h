#pragma once

#include <sys/types.h>

namespace evo {

// Whether a process of the group is stopped by a signal (SIGSTOP, SIGTSTP). Reads all of /proc.
bool AnyStopped(pid_t group);

// Whether a process that this one has started, or one of theirs, is. Reads little; false where the kernel does not list children.
bool AnyDescendantStopped(pid_t process);

}  // namespace evo
