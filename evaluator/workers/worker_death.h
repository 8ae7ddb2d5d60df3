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
    kCannotStart,  // no worker of the pool can be started; later jobs would fare the same
  };
  Kind kind = Kind::kExited;
  std::string description;  // "killed by signal 11 (Segmentation fault)", with the last line that the worker wrote to stderr
  // Something else ended it, or what it had started: another user, or the kernel when memory ran out. Its job is not to blame
  // unless that happens again and again.
  bool from_outside = false;
};

}  // namespace evo
