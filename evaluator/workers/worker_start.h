#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "evaluator/workers/worker_death.h"
#include "platform/descriptor.h"

namespace evo {

// A process that has been started, and our ends of its standard streams, which do not block.
struct StartedWorker {
  pid_t pid = -1;
  Descriptor input;
  Descriptor output;
  Descriptor errors;
};

// Starts argv[0] with the rest as its arguments, without a shell, in a process group of its own. A program without a folder is
// searched on the PATH. It dies with the calling thread, in which SIGPIPE is blocked from now on. Throws Error if it cannot be
// started.
StartedWorker StartWorkerProcess(const std::vector<std::string>& argv);

// How a worker ended that has this status of waitpid. `launched`: it is the status of its launcher, which tells of a signal as
// shells do, by 128 plus its number. A launcher that ended without the worker's word (srun with 0, when a node was lost; ssh with
// 255, when a connection was) was ended from outside.
WorkerDeath DeathOf(int status, bool launched);
// Whether that is the status of an ssh that has lost its connection.
bool LostItsConnection(int status);

}  // namespace evo
