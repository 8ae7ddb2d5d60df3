#pragma once

#include <optional>
#include <string>

namespace evo {

// Which system calls a process, and whatever it starts, may still make.
enum class SystemCalls {
  // Compilers: no network, no signals to others, no look into other processes, no way out of its process group, none of what
  // administers a machine. Such a call fails with EPERM.
  kCompiler,
  // As kCompiler, and no other program or process is started; threads may be. Also for the process that owns a GPU, once the
  // driver has opened it.
  kParser,
  // Code that computes: it allocates memory, reads clocks, starts threads, reads and writes what is open, opens for reading, and
  // ends. It cannot make memory executable but for an image that it maps from a file. To start a process, to open for writing, to
  // reach the network or another process ends it with SIGSYS; everything else fails with ENOSYS.
  kKernel,
};

// Filters the system calls of all threads by seccomp. Precondition: no new privileges. Why it is not in force; nullopt if it is.
std::optional<std::string> FilterSystemCalls(SystemCalls which);

}  // namespace evo
