#pragma once

#include <sys/types.h>

#include <chrono>

namespace evo {

// Whether a process that this one has started, or one that such a process has started, is stopped by a signal.
bool AnyDescendantStopped(pid_t process);

// Whether a process of the group is stopped by a signal (SIGSTOP, SIGTSTP). Reads all of /proc.
bool AnyStopped(pid_t group);

// Processor time that a process and the children that it has waited for have used so far; 0 if it has ended.
std::chrono::milliseconds ProcessorTime(pid_t pid);
// The same of all processes of a group. Reads all of /proc.
std::chrono::milliseconds ProcessorTimeOfGroup(pid_t group);

}  // namespace evo
