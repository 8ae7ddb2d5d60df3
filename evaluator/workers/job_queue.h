#pragma once

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
  SteadyTime since;  // when it was submitted
  int killed = 0;    // how many of its workers were killed from outside
};

// Jobs in the order of their submission. Workers can see how many there are. Not thread-safe: the owner locks.
class JobQueue {
 public:
  bool empty() const { return jobs_.empty(); }
  void Push(QueuedJob job) {
    jobs_.push_back(std::move(job));
    waiting_.Set(jobs_.size());
  }
  void PushFront(QueuedJob job) {
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
  std::deque<QueuedJob> jobs_;
  WaitingJobs waiting_;
};

}  // namespace evo
