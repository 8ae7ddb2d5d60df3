#include "evaluator/workers/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <utility>

#include "evaluator/workers/group_processes.h"
#include "evaluator/workers/guarded_group.h"
#include "evaluator/workers/stderr_tail.h"
#include "evaluator/workers/worker_start.h"
#include "platform/descriptor.h"

namespace evo {
namespace {

constexpr int kReadsAtOnce = 16;  // of 4 KiB each: the 64 KiB that a pipe holds
// How often a wait looks at its stop token; a quarter of the delay that a user notices after Ctrl-C.
constexpr auto kPollSlice = std::chrono::milliseconds(50);
// For a worker that something else has stopped. A batch system that lets a whole tree of processes go on does so much faster.
constexpr auto kLongestStop = std::chrono::seconds(1);
// How often a wait looks at the compilers that a worker has started, which takes some tenths of a millisecond.
constexpr auto kLookAtCompilers = std::chrono::milliseconds(300);
// From the end of a launcher's input to its end. The worker's keeper kills a worker that hangs after half a second, and a cluster
// needs a tenth of one to say so.
constexpr auto kFarewell = std::chrono::milliseconds(3000);
// From SIGTERM to a launcher to its end.
constexpr auto kLauncherEnd = std::chrono::milliseconds(3000);
// What a worker may write to standard error before it is ready.
constexpr std::size_t kStartStderrBytes = 1 << 20;

}  // namespace

struct WorkerProcess::State {
  pid_t pid = -1;
  bool launched = false;
  std::mutex signals;   // guards `reaped`: from then on the number of the worker and of its group may be another's
  bool reaped = false;  // changed by the worker's own thread only
  int status = 0;
  Descriptor to_worker;
  Descriptor from_worker;
  StderrTail errors{Descriptor()};
  Decoder decoder;
  std::string outgoing;  // of which `sent` bytes are written
  std::size_t sent = 0;
  std::function<void()> on_tick;  // may be empty
  bool ready = false;
  bool launcher_deaf = false;  // it did not end with its input
  std::atomic<bool> suspended = false;
  std::optional<SteadyTime> stopped_since;
  SteadyTime looked_at{};
  bool compiler_stopped = false;  // when it was looked at
  // Of the present Send or Receive.
  SteadyTime deadline{};
  std::optional<SteadyTime> latest;
  std::chrono::milliseconds allowed{};  // processor time, where there is a `latest`
  std::chrono::milliseconds used_before{};
  std::optional<GuardedGroup> guarded;

  // From any thread. A launcher does not pass it on, and without its answers the worker would be lost.
  void SignalGroup(int signal) {
    const std::lock_guard lock(signals);
    if (!reaped && !launched) ::kill(-pid, signal);
  }

  // True if it has ended, or cannot be waited for.
  bool Reap() {
    const std::lock_guard lock(signals);
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    reaped = ended > 0 || (ended < 0 && errno != EINTR);
    return reaped;
  }

  // A launcher passes the end of its input and a request to end on to the worker. It alone is signalled: in its group may be what
  // ends the worker where it itself is killed (the second process of Slurm's srun).
  void EndLauncher() {
    to_worker.Close();
    from_worker.Close();
    if (ReapWithin(kFarewell)) return;
    launcher_deaf = true;
    ::kill(pid, SIGTERM);
    if (!ReapWithin(kLauncherEnd)) ::kill(pid, SIGKILL);
  }

  bool ReapWithin(std::chrono::milliseconds time) {
    const auto give_up = std::chrono::steady_clock::now() + time;
    while (!Reap() && std::chrono::steady_clock::now() < give_up) {
      errors.Drain();
      ::usleep(500);
    }
    return reaped;
  }

  void KillAndReap() {
    if (reaped) return;
    if (launched) {
      EndLauncher();
    } else {
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);  // in case it had not yet made its group
    }
    guarded.reset();
    // A process inside a driver call may outlive its signal. After ten seconds it is left to init.
    if (!reaped) ReapWithin(std::chrono::seconds(10));
    const std::lock_guard lock(signals);
    reaped = true;
  }

  // Whether the worker itself has ended. Processes that it started may still hold its pipes open.
  bool Ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
  }

  // Writes what the pipe takes. False if the worker has closed its input.
  bool Flush() {
    while (sent < outgoing.size()) {
      const ssize_t n = ::write(to_worker.get(), outgoing.data() + sent, outgoing.size() - sent);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (n < 0 && errno == EAGAIN) return true;
      if (n < 0 && errno != EINTR) return false;
    }
    Forget();
    return true;
  }

  // What was not written yet.
  void Forget() {
    outgoing.clear();
    sent = 0;
  }

  // Waits for one of the descriptors, for `slice` at most.
  bool Poll(std::span<pollfd> fds, std::chrono::milliseconds slice) {
    const SteadyTime before = std::chrono::steady_clock::now();
    const bool polled = ::poll(fds.data(), fds.size(), static_cast<int>(slice.count())) >= 0;
    const auto beyond = std::chrono::steady_clock::now() - before - slice;
    if (beyond > kLongestStop) {
      deadline += beyond;  // this process did not run, either
      if (latest) *latest += beyond;
      stopped_since.reset();  // the worker may have been stopped together with us
    }
    return polled;
  }

  void StartWait(SteadyTime until, std::optional<SteadyTime> until_latest) {
    const SteadyTime now = std::chrono::steady_clock::now();
    deadline = until;
    latest = until_latest;
    if (latest) {
      allowed = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
      used_before = ProcessorTime(pid);
    }
  }

  // Moves the deadline where the worker has not had its processor time; false if there is nothing to wait for.
  bool Extend() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (!latest || now >= *latest) return false;
    const auto left = allowed - (ProcessorTimeOfGroup(pid) - used_before);
    if (left <= std::chrono::milliseconds(0)) return false;
    deadline = std::min(*latest, now + std::max<std::chrono::milliseconds>(left, kPollSlice));
    return true;
  }

  // A compiler that the worker has started counts.
  bool IsStopped(SteadyTime now) {
    if (suspended) return false;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid) return true;
    if (now - looked_at > kLookAtCompilers) {
      looked_at = now;
      compiler_stopped = AnyDescendantStopped(pid);
    }
    return compiler_stopped;
  }

  // Whether something else than Suspend stopped the worker and has not let it go on for a while.
  bool StoppedForLong() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (!IsStopped(now)) {
      stopped_since.reset();
      return false;
    }
    if (!stopped_since) stopped_since = now;
    return now - *stopped_since > kLongestStop;
  }
};

WorkerProcess::WorkerProcess(const std::vector<std::string>& argv, bool launched) : state_(std::make_unique<State>()) {
  StartedWorker started = StartWorkerProcess(argv);
  state_->pid = started.pid;
  state_->launched = launched;
  if (!launched) state_->guarded.emplace(state_->pid);
  state_->to_worker = std::move(started.input);
  state_->from_worker = std::move(started.output);
  state_->errors = StderrTail(std::move(started.errors));
}

WorkerProcess::~WorkerProcess() { state_->KillAndReap(); }

int WorkerProcess::pid() const { return state_->pid; }

void WorkerProcess::SetReady() { state_->ready = true; }

void WorkerProcess::End(SteadyTime deadline, const std::stop_token& stop) {
  if (state_->reaped) return;
  state_->to_worker.Close();
  std::array<char, 4096> bytes;
  while (!state_->Ended() && std::chrono::steady_clock::now() < deadline && !stop.stop_requested()) {
    // What it still writes is ignored, but a full pipe must not block it.
    int reads = 0;
    while (++reads <= kReadsAtOnce && ::read(state_->from_worker.get(), bytes.data(), bytes.size()) > 0) {
    }
    state_->errors.Drain();
    ::usleep(10'000);
  }
  state_->KillAndReap();
}

void WorkerProcess::Suspend() {
  state_->suspended = true;
  state_->SignalGroup(SIGSTOP);
}

void WorkerProcess::Resume() {
  state_->SignalGroup(SIGCONT);
  state_->suspended = false;
}

WorkerDeath WorkerProcess::Die(WorkerDeath::Kind kind, const std::string& what, bool from_outside) {
  // Its exit status says more than the fact that its pipe closed. It is reaped only after its group was killed.
  const bool waits = kind == WorkerDeath::Kind::kExited && !state_->reaped;
  for (int i = 0; waits && i < 100 && !state_->Ended(); ++i) ::usleep(10'000);
  const bool knew = state_->reaped || state_->Ended();
  state_->KillAndReap();
  state_->errors.Drain();
  WorkerDeath death{kind, what, from_outside};
  // The keeper of a worker on a machine that answers has ended it long before, and the launcher with it.
  if (kind == WorkerDeath::Kind::kDeadline && state_->launched && (state_->launcher_deaf || LostItsConnection(state_->status))) {
    death.description += ", and its machine does not answer";
    death.from_outside = true;
  }
  if (kind == WorkerDeath::Kind::kExited && knew) death = DeathOf(state_->status, state_->launched);
  const std::string line = state_->errors.LastLine();
  if (!line.empty()) death.description += ": " + line;
  return death;
}

// Waits until something can be read or written. Returns the death of a worker that has died, or that was killed at the deadline
// or after a stop request.
std::optional<WorkerDeath> WorkerProcess::WaitFor(Direction direction, const std::stop_token& stop) {
  using std::chrono::milliseconds;
  const bool read = direction == Direction::kRead;
  for (;;) {
    if (stop.stop_requested()) return Die(WorkerDeath::Kind::kStopped, "stopped");
    const auto left = std::chrono::ceil<milliseconds>(state_->deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      if (state_->Extend()) continue;
      if (!AnyStopped(state_->pid)) return Die(WorkerDeath::Kind::kDeadline, "deadline passed");
      return Die(WorkerDeath::Kind::kDeadline, "deadline passed while a process was stopped", true);
    }
    if (state_->StoppedForLong()) return Die(WorkerDeath::Kind::kSignalled, "stopped by a signal", true);
    if (!state_->ready && state_->errors.bytes() > kStartStderrBytes)
      return Die(WorkerDeath::Kind::kProtocol, "wrote more than 1 MiB to standard error before it was ready");
    const bool ended = state_->Ended();  // before the poll, so that the last bytes that it wrote are found
    if (read && state_->on_tick) state_->on_tick();
    const bool write = !read || !state_->outgoing.empty();
    pollfd fds[3] = {{read ? state_->from_worker.get() : -1, POLLIN, 0},
                     {state_->errors.fd(), POLLIN, 0},
                     {write ? state_->to_worker.get() : -1, POLLOUT, 0}};
    if (!state_->Poll(fds, std::min<milliseconds>(left, kPollSlice))) continue;
    if (fds[1].revents & POLLIN) state_->errors.Drain();
    if (fds[0].revents & (POLLIN | POLLHUP)) return std::nullopt;
    if (fds[2].revents & (POLLERR | POLLHUP) || (fds[2].revents && !ended)) return std::nullopt;
    if (ended) return Die(WorkerDeath::Kind::kExited, "ended");
    if ((fds[1].revents & POLLHUP) && !(fds[1].revents & POLLIN)) return Die(WorkerDeath::Kind::kExited, "closed its output");
  }
}

std::optional<WorkerDeath> WorkerProcess::Send(const Message& message, SteadyTime deadline, const std::stop_token& stop) {
  state_->outgoing += Encode(message);
  state_->StartWait(deadline, std::nullopt);
  for (;;) {
    if (!state_->Flush()) return Die(WorkerDeath::Kind::kExited, "closed its input");
    if (state_->outgoing.empty()) return std::nullopt;
    if (auto death = WaitFor(Direction::kWrite, stop)) return death;
  }
}

void WorkerProcess::SendMeanwhile(const Message& message) { state_->outgoing += Encode(message); }

void WorkerProcess::OnTick(std::function<void()> on_tick) { state_->on_tick = std::move(on_tick); }

bool WorkerProcess::launched() const { return state_->launched; }

std::variant<Message, WorkerDeath> WorkerProcess::Receive(SteadyTime deadline, const std::stop_token& stop,
                                                          std::optional<SteadyTime> latest) {
  std::array<char, 1 << 16> bytes;
  state_->StartWait(deadline, latest);
  try {
    for (;;) {
      if (auto message = state_->decoder.Next(state_->ready ? kReplyLimits : kGreetingLimits)) return std::move(*message);
      // A worker that has closed its input has ended or will: its last words say more.
      if (!state_->Flush()) state_->Forget();
      const ssize_t n = ::read(state_->from_worker.get(), bytes.data(), bytes.size());
      if (n > 0) {
        state_->decoder.Feed({bytes.data(), static_cast<std::size_t>(n)});
      } else if (n == 0) {
        return Die(WorkerDeath::Kind::kExited, "closed its output");
      } else if (errno == EAGAIN) {
        if (auto death = WaitFor(Direction::kRead, stop)) return std::move(*death);
      } else if (errno != EINTR) {
        return Die(WorkerDeath::Kind::kExited, std::strerror(errno));
      }
    }
  } catch (const ProtocolError& error) {
    return Die(WorkerDeath::Kind::kProtocol, fmt::format("sent a malformed reply: {}", error.what()));
  }
}

}  // namespace evo
