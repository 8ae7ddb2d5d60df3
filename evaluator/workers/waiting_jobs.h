#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/descriptor.h"

namespace evo {

// The number of jobs that wait for a worker, in memory that a pool shares with its workers, so that they can read it during a
// job.
class WaitingJobs {
 public:
  // The pool's side. Throws Error if the system gives no memory to share.
  WaitingJobs();
  ~WaitingJobs();
  WaitingJobs(const WaitingJobs&) = delete;
  WaitingJobs& operator=(const WaitingJobs&) = delete;

  void Set(std::size_t count);
  // Where a worker opens the number while this object lives.
  std::string path() const;

 private:
  Descriptor file_;
  std::uint32_t* count_ = nullptr;
};

// The worker's side. If the number cannot be opened, Any() is true, so that the worker does not keep others waiting.
class WaitingJobsView {
 public:
  explicit WaitingJobsView(const std::string& path);
  ~WaitingJobsView();
  WaitingJobsView(const WaitingJobsView&) = delete;
  WaitingJobsView& operator=(const WaitingJobsView&) = delete;

  bool Any() const;

 private:
  std::uint32_t* count_ = nullptr;
};

}  // namespace evo
