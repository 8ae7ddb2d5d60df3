#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "evaluator/workers/job_runner.h"
#include "evaluator/workers/waiting_jobs.h"
#include "evaluator/workers/worker_process.h"

namespace evo {

struct QueuedJob {
  Job job;
  JobRunner::Done done;
  SteadyTime since;     // when it was submitted
  int killed = 0;       // how many of its workers were killed from outside
  int killed_before{};  // workers of all jobs that were killed before the first of its own
};

// Jobs in the order of their submission, urgent ones first. Workers can see how many there are. Not thread-safe: the owner locks.
class JobQueue {
 public:
  bool empty() const { return jobs_.empty(); }
  // A worker that has nothing to do waits for a job, until it takes one or gives up.
  void BeginWait() { ++waiting_workers_; }
  void EndWait() { --waiting_workers_; }
  // Whether there are more jobs than workers that wait for one.
  bool HasSpare() const { return jobs_.size() > waiting_workers_; }
  void Push(QueuedJob job) {
    const auto behind =
        job.job.urgent ? std::ranges::find_if(jobs_, [](const QueuedJob& one) { return !one.job.urgent; }) : jobs_.end();
    jobs_.insert(behind, std::move(job));
    waiting_.Set(jobs_.size());
  }
  // Puts a job whose worker was killed from outside in front of the others. False, and the job is left as it is, if that has
  // happened often and mostly to this job: the kernel's choice when memory runs out falls on the job that needs it.
  bool TakeBack(QueuedJob& job) {
    if (job.killed++ == 0) job.killed_before = killed_;
    const int of_all = ++killed_ - job.killed_before;
    const bool mostly_it = 4 * job.killed > 3 * of_all;
    if (job.killed > kMostKilled && (mostly_it || job.killed > kMostKilledEver)) return false;
    PutBack(std::move(job));
    return true;
  }
  // Puts a job that no worker has begun in front of the others.
  void PutBack(QueuedJob job) {
    jobs_.push_front(std::move(job));
    waiting_.Set(jobs_.size());
  }
  // Precondition: not empty.
  QueuedJob Pop() {
    QueuedJob first = std::move(jobs_.front());
    jobs_.pop_front();
    waiting_.Set(jobs_.size());
    return first;
  }
  std::deque<QueuedJob> Drain() {
    waiting_.Set(0);
    return std::exchange(jobs_, {});
  }
  // Where workers open the count, as a WaitingJobsView.
  std::string count_path() const { return waiting_.path(); }

 private:
  static constexpr int kMostKilled = 5;
  static constexpr int kMostKilledEver = 20;
  int killed_ = 0;  // workers of all jobs that were killed from outside
  std::size_t waiting_workers_ = 0;
  std::deque<QueuedJob> jobs_;
  WaitingJobs waiting_;
};

}  // namespace evo
