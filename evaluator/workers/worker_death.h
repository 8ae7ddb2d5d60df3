#pragma once

#include <string>

namespace evo {

// Why a worker did not answer.
struct WorkerDeath {
  enum class Kind {
    kExited,
    kSignalled,
    kDeadline,
    kProtocol,     // sent a malformed reply
    kStopped,      // the job was cancelled
    kCannotStart,  // no worker could be started for the job; later jobs would fare the same
  };
  Kind kind = Kind::kExited;
  std::string description;  // "killed by signal 11 (Segmentation fault)", with the last line that the worker wrote to stderr
};

}  // namespace evo
