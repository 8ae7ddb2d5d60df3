#include "evaluator/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <map>

#include "core/error.h"
#include "core/installation.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

WorkerPoolOptions Options(const std::string& vice = "", int workers = 1) {
  WorkerPoolOptions options{"vicious", {(ProgramDirectory() / "vicious_worker").string()}, {{"role", "vicious"}}, workers};
  if (!vice.empty()) options.argv.push_back(vice);
  options.start_deadline = milliseconds(2000);
  return options;
}

JobResult Do(WorkerPool& pool, const std::string& vice, milliseconds deadline = milliseconds(5000)) {
  std::promise<JobResult> promise;
  Job job;
  job.request.header["vice"] = vice;
  job.request.bodies = {"over and back"};
  job.deadline = deadline;
  pool.Submit(job, [&](JobResult result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

TEST(WorkerPool, KeepsAWorkerForManyJobs) {
  WorkerPool pool(Options());
  const JobResult first = Do(pool, "");
  const JobResult second = Do(pool, "prints");
  ASSERT_TRUE(first.reply && second.reply);
  EXPECT_EQ(first.reply->header.at("pid"), second.reply->header.at("pid"));
  EXPECT_EQ(first.reply->header.at("echo"), "over and back");
  EXPECT_EQ(first.stage, "second");
}

TEST(WorkerPool, AViceCostsOneWorkerAndIsChargedToItsStage) {
  WorkerPool pool(Options());
  const std::map<std::string, std::pair<WorkerDeath::Kind, std::string>> vices = {
      {"aborts", {WorkerDeath::Kind::kSignalled, "killed by signal 6"}},
      {"exits", {WorkerDeath::Kind::kExited, "exited with status 7"}},
      {"hangs", {WorkerDeath::Kind::kDeadline, "deadline passed"}},
      {"floods stderr", {WorkerDeath::Kind::kExited, "exited with status 3: a line that nobody reads"}},
      {"throws", {WorkerDeath::Kind::kExited, "something is missing"}},
      {"forks", {WorkerDeath::Kind::kExited, ""}},
  };
  for (const auto& [vice, expected] : vices) {
    const bool ends_by_deadline = vice == "hangs" || vice == "forks";
    const JobResult result = Do(pool, vice, milliseconds(ends_by_deadline ? 500 : 5000));
    ASSERT_TRUE(result.death) << vice;
    // Who leaves a child with its pipes behind may be seen to exit or to pass its deadline.
    if (vice != "forks") {
      EXPECT_EQ(result.death->kind, expected.first) << vice << ": " << result.death->description;
    }
    EXPECT_THAT(result.death->description, HasSubstr(vice == "forks" ? "" : expected.second)) << vice;
    EXPECT_EQ(result.stage, "second") << vice;
    EXPECT_TRUE(Do(pool, "").reply) << "the job after the one that " << vice;
  }
}

TEST(WorkerPool, SaysWhyWorkersCannotBeStarted) {
  WorkerPool pool(Options("never starts"));
  try {
    pool.WaitReady();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("vicious worker cannot be started: exited with status 5: no such device"));
  }
  EXPECT_TRUE(Do(pool, "").death);
}

TEST(WorkerPool, TakesNonsenseForADeath) {
  WorkerPool pool(Options("speaks nonsense"));
  EXPECT_THROW(pool.WaitReady(), Error);
  EXPECT_THAT(pool.fatal(), HasSubstr("spoke nonsense"));
}

TEST(WorkerPool, CancelEndsWhatRunsAndWhatWaits) {
  WorkerPool pool(Options());
  std::promise<JobResult> running, queued;
  Job job;
  job.request.header["vice"] = "hangs";
  job.deadline = milliseconds(60'000);
  pool.Submit(job, [&](JobResult result) { running.set_value(std::move(result)); });
  pool.Submit(job, [&](JobResult result) { queued.set_value(std::move(result)); });
  std::this_thread::sleep_for(milliseconds(300));
  const auto asked = steady_clock::now();
  pool.Cancel();
  EXPECT_EQ(running.get_future().get().death->kind, WorkerDeath::Kind::kStopped);
  EXPECT_EQ(queued.get_future().get().death->kind, WorkerDeath::Kind::kStopped);
  EXPECT_LT(steady_clock::now() - asked, milliseconds(1000));
  EXPECT_TRUE(Do(pool, "").reply);   // later jobs are taken as usual
}

TEST(WorkerPool, AStageThatWaitsIsEnteredAndLeft) {
  WorkerPool pool(Options());
  std::promise<JobResult> promise;
  std::vector<std::string> calls;
  Job job;
  job.request.header["wait"] = true;
  job.on_enter = [&](const std::string& stage) { calls.push_back("enter " + stage); };
  job.on_leave = [&](const std::string& stage) { calls.push_back("leave " + stage); };
  pool.Submit(job, [&](JobResult result) { promise.set_value(std::move(result)); });
  EXPECT_TRUE(promise.get_future().get().reply);
  EXPECT_THAT(calls, ::testing::ElementsAre("enter second", "leave second"));
}

TEST(WorkerPool, NoJobStartsWhileItIsSuspended) {
  WorkerPool pool(Options());
  pool.WaitReady();
  pool.Suspend();
  std::promise<JobResult> promise;
  pool.Submit({}, [&](JobResult result) { promise.set_value(std::move(result)); });
  auto future = promise.get_future();
  EXPECT_EQ(future.wait_for(milliseconds(300)), std::future_status::timeout);
  pool.Resume();
  EXPECT_TRUE(future.get().reply);
}

TEST(WorkerPool, WorkersDieWithTheirParent) {
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    WorkerPool pool(Options());
    const JobResult result = Do(pool, "");
    const int worker = result.reply->header.at("pid").get<int>();
    if (::write(report[1], &worker, sizeof worker) < 0) ::_exit(1);
    ::pause();
  }
  int worker = 0;
  ASSERT_EQ(::read(report[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    // Whoever inherits it may take its time to reap it: a zombie has died as well.
    std::ifstream stat("/proc/" + std::to_string(worker) + "/stat");
    std::string line;
    gone = !std::getline(stat, line) || line.find(") Z ") != std::string::npos;
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace evo
