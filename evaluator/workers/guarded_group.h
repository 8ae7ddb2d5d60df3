#pragma once

#include <sys/types.h>

namespace evo {

// A process group that does not outlive this process, however this process ends. A worker is killed by the kernel when its parent
// ends, but the compilers that it has started are not. One small process in a session of its own, the guard, is told of every
// group; when its input ends, because this process has ended, it kills those that are left. Thread-safe.
class GuardedGroup {
 public:
  // Without a shell that could be the guard, the group is not guarded.
  explicit GuardedGroup(pid_t group);
  // The group has been killed, and its number may be another's from now on.
  ~GuardedGroup();
  GuardedGroup(const GuardedGroup&) = delete;
  GuardedGroup& operator=(const GuardedGroup&) = delete;

 private:
  pid_t group_;
};

}  // namespace evo
