#include "evaluator/workers/waiting_jobs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace evo {
namespace {

TEST(WaitingJobs, AreSeenByAnotherProcess) {
  WaitingJobs jobs;
  const auto seen_there = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(WaitingJobsView(jobs.path()).Any() ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 1;
  };
  const WaitingJobsView here(jobs.path());
  for (const std::size_t count : {0U, 3U, 1U, 0U}) {
    jobs.Set(count);
    EXPECT_EQ(here.Any(), count > 0) << count;
    EXPECT_EQ(seen_there(), count > 0) << count;
  }
}

TEST(WaitingJobs, IfThePathNamesSomethingElseJobsAreSaidToWait) {
  EXPECT_TRUE(WaitingJobsView("").Any());
  EXPECT_TRUE(WaitingJobsView("/proc/self/fd/9999").Any());
  EXPECT_TRUE(WaitingJobsView("/dev/null").Any());
  const std::filesystem::path empty = std::filesystem::temp_directory_path() / ("evo-waiting-" + std::to_string(::getpid()));
  std::ofstream(empty).close();
  EXPECT_TRUE(WaitingJobsView(empty.string()).Any());
  std::filesystem::remove(empty);
}

}  // namespace
}  // namespace evo
