#include "evaluator/workers/guarded_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "platform/descriptor.h"

namespace evo {
namespace {

// Told "start GROUP" and "end GROUP", a line each. A stopped process dies of this signal, too.
constexpr const char* kScript = R"(
live=' '
while read -r what group; do
  case $what in
    start) live="$live$group " ;;
    end) live="${live%% $group *} ${live#* $group }" ;;
  esac
done
for group in $live; do kill -s KILL -- -"$group"; done
)";

// Starts the guard in a session of its own, where no signal of the terminal reaches it, with nothing open but its input. -1 if it
// cannot be started.
pid_t StartGuard(int input) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const char* const argv[] = {"sh", "-c", kScript, "evo-guard", nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &files, &attributes, const_cast<char* const*>(argv), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return failed == 0 ? pid : -1;
}

class Guard {
 public:
  ~Guard() {
    // Nothing is left to it, and it may have been stopped.
    if (owner_ == ::getpid() && groups_.empty()) End();
  }

  void Add(pid_t group) {
    const std::lock_guard lock(mutex_);
    // A copy of this process that was made by fork has a guard of its own.
    if (owner_ != ::getpid()) Forget();
    groups_.insert(group);
    if (!Tell(fmt::format("start {}\n", group))) Restart();
  }

  void Remove(pid_t group) {
    const std::lock_guard lock(mutex_);
    if (owner_ != ::getpid() || groups_.erase(group) == 0) return;
    if (!Tell(fmt::format("end {}\n", group))) Restart();
  }

 private:
  void Forget() {
    to_guard_.Close();
    groups_.clear();
    pid_ = -1;
    owner_ = ::getpid();
  }

  void End() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
    to_guard_.Close();
  }

  // Kills the old guard first, since it would kill the groups that it knows.
  void Restart() {
    End();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    to_guard_ = Descriptor(ends[0]);
    const Descriptor input(ends[1]);
    pid_ = StartGuard(input.get());
    for (const pid_t group : groups_) Tell(fmt::format("start {}\n", group));
  }

  bool Tell(std::string_view line) const {
    return ::send(to_guard_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(line.size());
  }

  std::mutex mutex_;  // guards everything below
  pid_t owner_ = -1;  // the process that started the guard
  pid_t pid_ = -1;
  Descriptor to_guard_;
  std::set<pid_t> groups_;
};

Guard& TheGuard() {
  static Guard guard;
  return guard;
}

}  // namespace

GuardedGroup::GuardedGroup(pid_t group) : group_(group) { TheGuard().Add(group_); }
GuardedGroup::~GuardedGroup() { TheGuard().Remove(group_); }

}  // namespace evo
