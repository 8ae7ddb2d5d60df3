#include "evaluator/workers/worker_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/json_error.h"
#include "platform/command.h"

namespace evo {
namespace {

namespace bp = boost::process::v2;

// Descriptors above this number are not marked where the kernel is older than 5.11 and cannot mark all at once.
constexpr int kMostDescriptors = 4096;

constexpr int kConnectionLost = 255;  // as ssh says it

std::pair<Descriptor, Descriptor> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe for a worker: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void SetNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Runs in the child between fork and exec: gives it a process group of its own and makes it die with the parent's thread.
struct DieWithParent {
  pid_t parent = ::getpid();

  // Boost 1.81 waits on a pipe until exec has closed it, and closes only descriptors above that pipe in the child. If a second
  // thread starts a worker at the same moment, its pipe stays open in this worker, and that thread waits for as long as this
  // worker lives: for ever, if this worker is ended only after that thread.
  static void CloseOnExec() {
    constexpr int kFirst = STDERR_FILENO + 1;
    if (::close_range(kFirst, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    for (int fd = kFirst; fd < kMostDescriptors; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  template <typename Launcher>
  bp::error_code on_exec_setup(Launcher&, const bp::filesystem::path&, const char* const*(&)) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    CloseOnExec();
    // Only the coordinator acts on the terminal's Ctrl-C. The worker must not inherit our blocked signals and handlers.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    return {};
  }
};

bp::filesystem::path FindProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  bp::filesystem::path found = bp::environment::find_executable(program);
  if (found.empty()) throw Error(fmt::format("cannot start {}: there is no such program on the PATH", program));
  return found;
}

WorkerDeath DeathBySignal(int signal) {
  return {WorkerDeath::Kind::kSignalled, fmt::format("killed by signal {} ({})", signal, ::strsignal(signal)),
          ComesFromOutside(signal)};
}

}  // namespace

StartedWorker StartWorkerProcess(const std::vector<std::string>& argv) {
  // A worker may die while we write to it: write() must return an error then, instead of ending this process.
  sigset_t broken_pipe;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  const bp::filesystem::path program = FindProgram(argv.front());
  auto [child_in, to_worker] = MakePipe();
  auto [from_worker, child_out] = MakePipe();
  auto [err_read, child_err] = MakePipe();
  StartedWorker started;
  try {
    const std::vector<std::string> arguments(argv.begin() + 1, argv.end());
    boost::asio::io_context context;
    bp::process process(context, program, arguments, bp::process_stdio{child_in.get(), child_out.get(), child_err.get()},
                        DieWithParent{});
    started.pid = process.id();
    process.detach();  // reaped by hand: the group must be killed first
  } catch (const std::exception& error) {
    throw Error(fmt::format("cannot start {}: {}", argv.front(), PlainText(error)));
  }
  ::setpgid(started.pid, started.pid);
  for (const Descriptor* fd : {&to_worker, &from_worker, &err_read}) SetNonBlocking(fd->get());
  started.input = std::move(to_worker);
  started.output = std::move(from_worker);
  started.errors = std::move(err_read);
  return started;
}

bool LostItsConnection(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == kConnectionLost; }

WorkerDeath DeathOf(int status, bool launched) {
  constexpr int kBySignal = 128, kSignals = 64, kNodeLost = 0;
  if (WIFSIGNALED(status)) return DeathBySignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (launched && code > kBySignal && code <= kBySignal + kSignals) return DeathBySignal(code - kBySignal);
  if (launched && (code == kNodeLost || LostItsConnection(status)))
    return {WorkerDeath::Kind::kExited, fmt::format("its launcher ended with status {}", code), true};
  return {WorkerDeath::Kind::kExited, fmt::format("exited with status {}", code)};
}

}  // namespace evo
