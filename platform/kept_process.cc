#include "platform/kept_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.h"
#include "platform/descriptor.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

sigset_t SignalsOfKeeper() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP, SIGINT}) ::sigaddset(&set, signal);
  return set;
}

[[noreturn]] void Work(const std::function<int()>& work, pid_t keeper, const sigset_t& mask) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(127);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int status = work();
  std::fflush(nullptr);
  ::_exit(status);  // what this process has of the keeper's is the keeper's to remove
}

// For a child that something else has stopped. A batch system that halts and continues a whole tree of processes does so faster.
constexpr std::chrono::milliseconds kLongestStop{1000};

bool IsStopped(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

bool HasEnded(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

constexpr Clock::time_point kNever = Clock::time_point::max();

// For poll; -1: without end.
int MillisecondsUntil(Clock::time_point time) {
  if (time == kNever) return -1;
  return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count()));
}

// Returns when the child has ended or is to be killed.
void Watch(pid_t child, int signals, std::chrono::milliseconds grace) {
  Clock::time_point deadline = kNever;
  Clock::time_point longest_stop = kNever;
  pollfd fds[3] = {{signals, POLLIN, 0}, {STDOUT_FILENO, 0, 0}, {STDIN_FILENO, POLLRDHUP, 0}};
  for (;;) {
    // Its stop is told as its end is, by SIGCHLD.
    if (!IsStopped(child))
      longest_stop = kNever;
    else if (longest_stop == kNever)
      longest_stop = Clock::now() + kLongestStop;
    if (::poll(fds, 3, MillisecondsUntil(std::min(deadline, longest_stop))) < 0 && errno != EINTR) return;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return;
    if (now >= longest_stop) {
      // Much later: this process was stopped, too.
      if (now - longest_stop < kLongestStop / 2) return;
      longest_stop = now + kLongestStop;
    }
    if (fds[0].revents != 0) {
      signalfd_siginfo signal{};
      if (::read(signals, &signal, sizeof signal) != sizeof signal || signal.ssi_signo != SIGCHLD || HasEnded(child)) return;
    }
    if ((fds[1].revents & (POLLERR | POLLHUP)) != 0) return;
    if (fds[2].revents == 0) continue;
    fds[2].fd = -1;
    deadline = Clock::now() + grace;
  }
}

}  // namespace

int RunKept(const std::function<int()>& work, std::chrono::milliseconds grace) {
  const sigset_t own = SignalsOfKeeper();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &own, &before);
  const Descriptor signals(::signalfd(-1, &own, SFD_CLOEXEC));
  const pid_t keeper = ::getpid();
  const pid_t child = signals.get() < 0 ? -1 : ::fork();
  if (child == 0) Work(work, keeper, before);
  if (child < 0) throw Error(fmt::format("cannot start a process to work in: {}", std::strerror(errno)));
  ::setpgid(child, child);
  Watch(child, signals.get(), grace);
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);  // in case it had not yet made its group
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace evo
