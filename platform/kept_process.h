#pragma once

#include <chrono>
#include <functional>

namespace evo {

// Runs `work` in a child of this process, in a process group of its own, and returns its exit status, or 128 plus the number of
// the signal that ended it, as a shell does. This process keeps the child meanwhile: it kills the group
// - when nobody reads its standard output any more,
// - when nobody writes to its standard input any more and the child has not ended within `grace`,
// - when something else has stopped the child for a second, and not this process,
// - when a signal asks this process to end (SIGTERM, SIGHUP, SIGINT),
// - when the child has ended, and what it had started has not.
// If this process is killed, the child dies with it. Precondition: this process has one thread. Throws Error if there can be no
// child.
int RunKept(const std::function<int()>& work, std::chrono::milliseconds grace);

}  // namespace evo
