#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/workers/protocol.h"

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

// How a worker failed to answer.
struct WorkerDeath {
  enum class Kind { kExited, kSignalled, kDeadline, kProtocol, kStopped };
  Kind kind = Kind::kExited;
  std::string description;  // "killed by signal 11 (Segmentation fault)", with the last line it wrote to stderr
};

// One worker process, in a process group of its own that dies with the thread that started it. Used from that one thread, but for
// Suspend, Resume and Kill.
class WorkerProcess {
 public:
  // Starts argv[0] with the rest as arguments; no shell. Blocks SIGPIPE in the calling thread. Throws Error if it cannot be
  // started.
  explicit WorkerProcess(const std::vector<std::string>& argv);
  // Kills the whole group and reaps.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // nullopt when all of it was written.
  std::optional<WorkerDeath> Send(const Message& message, SteadyTime deadline, const std::stop_token& stop);
  // After a WorkerDeath the process has been killed and reaped.
  std::variant<Message, WorkerDeath> Receive(SteadyTime deadline, const std::stop_token& stop);

  // Stops and continues every process of the group.
  // Closes the worker's input, which ends it, and waits until it has ended. Kills it at the deadline.
  void End(SteadyTime deadline);
  void Suspend();
  void Resume();
  int pid() const;

 private:
  struct State;
  WorkerDeath Die(WorkerDeath::Kind kind, const std::string& what);
  bool Pump(SteadyTime deadline, const std::stop_token& stop, bool want_write, WorkerDeath& death);
  std::unique_ptr<State> state_;
};

}  // namespace evo
