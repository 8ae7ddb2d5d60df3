#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "evaluator/workers/announced_run.h"
#include "evaluator/workers/protocol.h"
#include "evaluator/workers/worker_death.h"

namespace evo {

// One job for one worker. Deadlines hold per stage: each begin marker starts the clock anew, but all parts of a stage together
// have `deadlines_per_stage` times its deadline.
struct Job {
  Message request;
  // Where given, makes the request instead, when a worker takes the job, in that worker's thread: what was learnt while the job
  // waited counts.
  std::function<Message()> make_request;
  bool urgent = false;                         // goes before those that wait and are not
  std::chrono::milliseconds deadline{60'000};  // of every stage that stage_deadlines does not name
  std::map<Stage, std::chrono::milliseconds> stage_deadlines;
  int deadlines_per_stage = 2;
  std::string deadline_rule{};  // where `deadline` comes from, for messages: "4 times what the slowest template took"
  // Where given, deadlines are processor time of the worker and what it starts, so that a busy machine costs no job, and a stage
  // ends after this time at the latest.
  std::optional<std::chrono::milliseconds> latest;
  // Called in the worker's thread: on_enter when a begin marker asks to wait, before the worker is told to go on; on_leave when
  // the job has left that stage. They come in pairs, whatever becomes of the job.
  std::function<void(Stage stage)> on_enter;
  std::function<void(Stage stage)> on_leave;
};

// What became of a job. Exactly one of reply and death is set.
struct JobResult {
  std::optional<Message> reply;
  std::optional<WorkerDeath> death;
  std::optional<Stage> stage;  // of the last begin marker; nullopt: there was none
  AnnouncedRun run;            // likewise; none if that marker had none
  std::map<Stage, double> stage_ms;
  double queue_ms = 0;
  std::string tool_log{};  // of a tool that watched the worker, where a launcher has started both
};

// Runs jobs and delivers each result later. WorkerPool runs them in processes; a test's fake answers them itself. Thread-safe.
class JobRunner {
 public:
  // Called exactly once per job, in any thread, while the runner holds no lock.
  using Done = std::function<void(JobResult)>;

  virtual ~JobRunner() = default;
  // Returns before `done` is called: the caller may hold a lock that `done` takes.
  virtual void Submit(Job job, Done done) = 0;
  // Everything queued or running ends soon with WorkerDeath::Kind::kStopped. Jobs submitted later run as usual.
  virtual void Cancel() = 0;
  // Suspend halts all running jobs and starts no others until Resume has been called as often. Deadlines go on meanwhile: choose
  // them long enough.
  virtual void Suspend() = 0;
  virtual void Resume() = 0;
  // Time that workers have spent on jobs, summed over the workers, in milliseconds.
  virtual double busy_ms() const = 0;
};

// Submits the jobs and waits for all results, in the order of the jobs. A stop request cancels everything on that runner.
std::vector<JobResult> RunAndWait(JobRunner& runner, std::vector<Job> jobs, const std::stop_token& stop);

}  // namespace evo
