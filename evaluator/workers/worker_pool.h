#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/outcome.h"
#include "evaluator/workers/protocol.h"
#include "evaluator/workers/waiting_jobs.h"
#include "evaluator/workers/worker_process.h"

namespace evo {

struct WorkerPoolOptions {
  std::string name;               // for messages: "compile"
  std::vector<std::string> argv;  // program and arguments, a launcher command in front if there is one
  nlohmann::json init;            // sent to every new worker, with "waiting": the path of the pool's WaitingJobs
  int workers = 1;
  std::vector<nlohmann::json> init_of_worker;  // if not empty, one for each worker, merged into `init`
  bool standby = false;                        // keep one started worker in reserve, so that a death costs no start-up
  bool fresh = false;                          // a new process for every job
  bool end_gracefully = false;                 // close a worker's input and give it time to end by itself before it is killed
  std::chrono::milliseconds start_deadline{60'000};
};

// One job for one worker. Deadlines are per stage: the clock starts anew with each begin marker. A stage without one of its own
// has `deadline`.
struct Job {
  Message request;
  std::chrono::milliseconds deadline{60'000};
  std::map<Stage, std::chrono::milliseconds> stage_deadlines;
  // Called in the worker's thread when a marker asks to wait, before the worker is told to go on, and when the job has left that
  // stage.
  std::function<void(Stage stage)> on_enter;
  std::function<void(Stage stage)> on_leave;
};

// What became of a job. Exactly one of reply and death is set.
struct JobResult {
  std::optional<Message> reply;
  std::optional<WorkerDeath> death;
  std::optional<Stage> stage;  // of the last marker; nullopt: there was none
  std::map<Stage, double> stage_ms;
  double queue_ms = 0;
};

// Long-lived worker processes of one role behind one queue. Each worker has a thread of its own that lives as long as the pool. A
// job whose worker dies gets its death as the result; the next job gets a new worker. A worker that cannot be started three times
// running is reported through `fatal` and fails every job. Thread-safe.
class WorkerPool {
 public:
  using Done = std::function<void(JobResult)>;  // called in a worker's thread

  explicit WorkerPool(WorkerPoolOptions options);
  // Drops what is queued (as stopped), kills the workers.
  ~WorkerPool();

  void Submit(Job job, Done done);
  // Sends `setup` to every worker before its next job, those in reserve too, so that what all jobs share need not travel with
  // each. The worker's answer is not looked at. Precondition: nothing is queued or running.
  void SetSetup(Message setup);
  // Everything queued or running ends soon with WorkerDeath::kStopped. Later jobs are taken as usual.
  void Cancel();
  // Time that workers have spent on jobs, summed over them, in milliseconds.
  double busy_ms() const;
  // Why workers cannot be started; empty if they can.
  std::string fatal() const;
  // The answer of the first worker to be ready. Blocks. Throws Error if none can be started, Interrupted after a stop request.
  nlohmann::json WaitReady(const std::stop_token& stop = {});

  // Stops all workers of the pool where they are, and lets them go on. Deadlines run meanwhile: give them room.
  void Suspend();
  void Resume();

 private:
  struct Queued {
    Job job;
    Done done;
    SteadyTime since;
  };
  struct Hired {
    std::unique_ptr<WorkerProcess> process;
    int setup = 0;  // number of the setup it was sent; 0: none
    explicit operator bool() const { return process != nullptr; }
  };
  struct Slot {
    std::mutex mutex;  // guards the pointers against Suspend
    std::size_t index = 0;
    Hired worker;
    Hired standby;
  };

  void Serve(Slot& slot, const std::stop_token& stop);
  std::optional<WorkerDeath> EnsureWorker(Slot& slot, const std::stop_token& stop);
  std::optional<WorkerDeath> HireWorker(Slot& slot, const std::stop_token& stop);
  std::optional<WorkerDeath> SetUp(Hired& worker, const std::stop_token& stop);
  Hired StartWorker(std::size_t index, const std::stop_token& stop);
  std::pair<int, std::shared_ptr<const Message>> CurrentSetup() const;
  void Retire(Slot& slot);
  JobResult Converse(Slot& slot, const Job& job, const std::stop_token& stop);

  WorkerPoolOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Queued> queue_;
  WaitingJobs waiting_;  // queue_'s size
  std::stop_source cancel_;
  std::string fatal_;
  std::optional<nlohmann::json> ready_;
  std::shared_ptr<const Message> setup_;
  int setups_ = 0;
  int suspended_ = 0;
  double busy_ms_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::jthread> threads_;
};

}  // namespace evo
