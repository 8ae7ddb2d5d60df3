#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace evo {

// How many jobs wait for a worker, as a pool's workers can see it while they are at a job: one number in memory that the
// processes share.
class WaitingJobs {
 public:
  // The pool's side. Throws Error where there is no memory to share.
  WaitingJobs();
  ~WaitingJobs();
  WaitingJobs(const WaitingJobs&) = delete;
  WaitingJobs& operator=(const WaitingJobs&) = delete;

  void Set(std::size_t count);
  // What a worker opens it by, as long as this lives.
  std::string path() const;

 private:
  int file_ = -1;
  std::uint32_t* count_ = nullptr;
};

// A worker's side. One that cannot be opened says that jobs wait.
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
