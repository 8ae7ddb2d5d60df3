#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/record_json.h"  // how an optional value is read, before `greeting` asks
#include "evaluator/workers/job_queue.h"
#include "evaluator/workers/job_runner.h"
#include "evaluator/workers/worker_process.h"

namespace evo {

// Of the pause of a worker that cannot be started, or whose machine fails.
inline constexpr int kMostDoublings = 5;

struct WorkerPoolOptions {
  std::string name;               // for messages: "compile"
  std::vector<std::string> argv;  // program and arguments, with a launcher command in front if there is one
  nlohmann::json init;            // sent to every new worker, with "waiting": the path of the number of queued jobs
  int workers = 1;
  std::vector<nlohmann::json> init_of_worker;  // if not empty, one for each worker, merged into `init`
  bool standby = false;                        // keep one started worker in reserve, so that a death costs no start-up
  bool fresh = false;                          // a new process for every job
  bool end_gracefully = false;  // ask a worker to end and give it time to do so, since a tool that watches it writes a report
  std::chrono::milliseconds start_deadline{60'000};
  std::chrono::milliseconds start_pause{1'000};  // after the third failed start in a row; it doubles with each further one
  std::function<void(const std::string&)> warn;  // told, in the thread of a worker, that fewer workers are left; may be empty
  bool launched = false;     // `argv` and `argv_of_worker` start with a launcher, such as srun or ssh; see WorkerProcess
  bool sends_ahead = false;  // sends a busy worker its next job, so that it begins that at once. Not for `fresh` workers
  std::vector<std::vector<std::string>> argv_of_worker;  // if not empty, one for each worker, in place of `argv`
  std::vector<std::string> place_of_worker;              // likewise; for messages: the host that it is to run on
};

// Long-lived worker processes of one role behind one queue. Each worker has a thread of its own that lives as long as the pool.
// A job whose worker dies gets that death as its result; the next job gets a new worker. A job whose worker was killed from
// outside is run again in another, unless that has happened often and mostly to that job; so is always one that the worker had
// got and not begun, and, of workers that launchers have started, one whose reply says that its machine failed: no room on the
// disk. A worker that cannot be started is
// tried again after pauses, and the others go on without it. When none can live, every job ends with kCannotStart, and fatal()
// says why. Thread-safe.
class WorkerPool : public JobRunner {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  // Ends all jobs as Cancel does and kills the workers.
  ~WorkerPool() override;

  // Results are delivered in the threads of the workers, those of cancelled queued jobs in the thread that cancels.
  void Submit(Job job, Done done) override;
  void Cancel() override;
  // Stops the processes of all workers, not of those in reserve.
  void Suspend() override;
  void Resume() override;
  double busy_ms() const override;

  // Sends `setup` to every worker before its next job, also to those in reserve, so that what all jobs share need not travel
  // with each. The worker's answer is ignored. Precondition: nothing is queued or running.
  void SetSetup(Message setup);
  // The first worker, from 0 on, that was ready and has not failed to start since; 0 if there is none.
  std::size_t FirstUsable() const;
  // Why workers cannot be started; empty if they can.
  std::string fatal() const;
  // What the first worker that became ready said of itself. Blocks. Throws Error if none can be started, Interrupted after a stop
  // request.
  nlohmann::json WaitReady(const std::stop_token& stop = {});
  // The same of every worker that could be started, once each is ready or has failed to start three times. Precondition: the
  // pool's workers are not `fresh`.
  std::vector<nlohmann::json> WaitAllReady(const std::stop_token& stop = {});

 private:
  struct Setup {
    int number = 0;  // 0: there is none
    std::shared_ptr<const Message> message;
  };
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    int setup = 0;  // number of the setup that it was sent
    explicit operator bool() const { return process != nullptr; }
  };
  struct StartFailure {
    WorkerDeath death;
    bool worth_retrying = true;
    std::chrono::nanoseconds took{};
  };
  struct TakenJob {
    QueuedJob queued;
    std::stop_token cancel;  // of the jobs that were there when it was taken
  };
  struct StartAttempts {
    int failed = 0;  // in a row
    bool succeeded = false;
    bool hopeless = false;  // the worker has said why it cannot be, and the next would say the same
  };
  struct Slot {
    std::size_t index = 0;
    std::mutex mutex;  // guards `worker` against Suspend and Resume; only the slot's own thread changes it
    Worker worker;
    Worker standby;
    int machine_failures = 0;                // in a row, of jobs that say that their machine failed; guarded by the pool's mutex_
    std::optional<TakenJob> ahead;           // was sent to `worker`, which takes it after the present one
    StartAttempts starts;                    // this and `greeting` are guarded by the pool's mutex_
    std::optional<nlohmann::json> greeting;  // of the worker that was ready last
    std::jthread thread;                     // last: it uses the members above
  };

  void Serve(Slot& slot, const std::stop_token& stop);
  bool AwaitJob(const Slot& slot, const std::stop_token& stop);
  void ServeNext(Slot& slot, SteadyTime since);
  void SendAhead(Slot& slot);
  void PassOn(TakenJob ahead);
  bool LeaveToOthers(Slot& slot, TakenJob& taken, const JobResult& result);
  void EnsureWorker(Slot& slot, const std::stop_token& stop);
  bool AwaitNextStart(Slot& slot, const StartFailure& failure, const std::stop_token& stop);
  bool NoneCanLive() const;
  bool HasStartedOrFailed(const Slot& slot) const;
  std::optional<StartFailure> TryStart(Slot& slot, const std::stop_token& stop);
  std::optional<WorkerDeath> SendSetup(Worker& worker, const std::stop_token& stop);
  Worker StartWorker(std::size_t index, const std::stop_token& stop);
  Setup CurrentSetup() const;
  std::string Retire(Slot& slot, const std::stop_token& cancel);

  WorkerPoolOptions options_;

  mutable std::mutex mutex_;  // guards everything down to busy_ms_
  std::condition_variable_any changed_;
  JobQueue queue_;
  std::stop_source cancel_;  // of the jobs that run now
  std::string fatal_;
  std::optional<nlohmann::json> ready_;
  Setup setup_;
  int suspended_ = 0;
  double busy_ms_ = 0;

  std::vector<std::unique_ptr<Slot>> slots_;  // last: their threads use the members above
};

}  // namespace evo
