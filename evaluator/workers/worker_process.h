#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/workers/protocol.h"
#include "evaluator/workers/worker_death.h"

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

// One worker process, in a process group of its own. It dies with the thread that started it, and its group with this process; of
// a launcher, the process alone. Suspend and Resume may be called from any thread, everything else only from that one.
class WorkerProcess {
 public:
  // Starts argv[0] with the rest as its arguments, without a shell; a program without a folder is searched on the PATH.
  // `launched`: the program is a launcher, such as srun or ssh, which starts the worker elsewhere. Blocks SIGPIPE in the calling
  // thread. Throws Error if the process cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& argv, bool launched = false);
  // Kills the whole group and reaps the worker. A launcher is asked to end first, by the end of its input and then by SIGTERM,
  // and only its own process is killed, if need be, after six seconds.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // From now on the worker may send large messages and write to standard error as much as it likes. Until then little of both is
  // accepted, since it has done no work yet.
  void SetReady();
  // Returns nullopt when the whole message was written.
  std::optional<WorkerDeath> Send(const Message& message, SteadyTime deadline, const std::stop_token& stop);
  // Returns at once; later calls of Send and Receive write what the worker does not take yet.
  void SendMeanwhile(const Message& message);
  // Called by Receive before it waits, and every 50 ms while it does. It may call SendMeanwhile, and nothing else.
  void OnTick(std::function<void()> on_tick);
  // The next message. Where either returns a WorkerDeath, the process has been killed and reaped. A worker that something else
  // has stopped for a second is killed; through a launcher, its keeper does that. `latest`: where given, the time left until
  // `deadline` is processor time of the worker and what it has started, which on a busy machine lasts longer, but not beyond
  // `latest`.
  std::variant<Message, WorkerDeath> Receive(SteadyTime deadline, const std::stop_token& stop,
                                             std::optional<SteadyTime> latest = std::nullopt);

  // Closes the worker's input, which makes it end, and waits for that. Kills it at the deadline or after a stop request.
  void End(SteadyTime deadline, const std::stop_token& stop);
  // Suspend stops every process of the group; Resume lets them continue. Neither has an effect through a launcher.
  void Suspend();
  void Resume();
  int pid() const;
  bool launched() const;

 private:
  struct State;
  WorkerDeath Die(WorkerDeath::Kind kind, const std::string& what, bool from_outside = false);
  enum class Direction { kRead, kWrite };
  std::optional<WorkerDeath> WaitFor(Direction direction, const std::stop_token& stop);
  std::unique_ptr<State> state_;
};

}  // namespace evo
