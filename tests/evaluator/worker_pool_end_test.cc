// How workers are cancelled, suspended and ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <thread>

#include "tests/evaluator/faulty_pool.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using Kind = WorkerDeath::Kind;
using nlohmann::json;

// The letter of /proc/PID/stat: T is stopped.
char StateOf(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto end = text.rfind(')');
  return end == std::string::npos ? '-' : text[end + 2];
}

TEST(WorkerPool, CancelStopsWhatRunsAndDropsWhatWaits) {
  WorkerPool pool(Options("hang"));
  const int before = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, {{"misbehave", true}});
  auto waiting = Submitted(pool, json::object());
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = std::chrono::steady_clock::now();
  pool.Cancel();
  EXPECT_EQ(running.get().death->kind, Kind::kStopped);
  EXPECT_EQ(waiting.get().death->kind, Kind::kStopped);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  const JobResult after = Answer(pool, json::object());
  ASSERT_TRUE(after.reply) << "later jobs are taken as usual";
  EXPECT_NE(Pid(after), before);
}

TEST(WorkerPool, EndsAtOnceWhateverItsWorkersDo) {
  for (const std::string fault : {"hang", "hangs_at_start"}) {
    std::future<JobResult> running;
    std::chrono::steady_clock::time_point start;
    {
      WorkerPool pool(Options(fault));
      running = Submitted(pool, {{"misbehave", true}});
      std::this_thread::sleep_for(milliseconds(200));
      start = std::chrono::steady_clock::now();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000)) << fault;
    EXPECT_EQ(running.get().death->kind, Kind::kStopped);
  }
}

TEST(WorkerPool, EndsAtOnceWhileAWorkerDoesNotListen) {
  WorkerPoolOptions options = Options("");
  options.argv.emplace_back("deaf");
  options.init["templates"] = std::string(1'000'000, 't');  // more than a pipe holds
  std::future<JobResult> waiting;
  std::chrono::steady_clock::time_point start;
  {
    WorkerPool pool(options);
    waiting = Submitted(pool, json::object());
    std::this_thread::sleep_for(milliseconds(100));
    start = std::chrono::steady_clock::now();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  EXPECT_EQ(waiting.get().death->kind, Kind::kStopped);
}

TEST(WorkerPool, WaitReadyReturnsWhatTheRoleSaysOfItself) {
  WorkerPool pool(Options(""));
  const json ready = pool.WaitReady();
  EXPECT_EQ(ready.at("pid"), Pid(Answer(pool, json::object())));
  EXPECT_THAT(pool.fatal(), ::testing::IsEmpty());
}

TEST(WorkerPool, SuspendHoldsTheWorkersAndTheQueue) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 150}}}}});
  std::this_thread::sleep_for(milliseconds(50));
  pool.Suspend();
  pool.Suspend();
  auto waiting = Submitted(pool, json::object());
  EXPECT_EQ(running.wait_for(milliseconds(400)), std::future_status::timeout);
  EXPECT_EQ(StateOf(pid), 'T');
  pool.Resume();
  EXPECT_EQ(running.wait_for(milliseconds(100)), std::future_status::timeout) << "suspended twice, resumed once";
  pool.Resume();
  EXPECT_TRUE(running.get().reply);
  EXPECT_EQ(Pid(waiting.get()), pid);
}

TEST(WorkerPool, ASuspendedWorkerCanBeCancelled) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 100}}}}});
  std::this_thread::sleep_for(milliseconds(30));
  pool.Suspend();
  pool.Cancel();
  EXPECT_EQ(running.get().death->kind, Kind::kStopped);
  EXPECT_EQ(StateOf(pid), '-') << "it was killed, not left stopped";
  pool.Resume();
  EXPECT_TRUE(Answer(pool, json::object()).reply);
}

// Whatever happens to the coordinator, no worker outlives it, not even in the middle of an endless kernel.
TEST(WorkerPool, WorkersDieWithTheirParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans become our children, so that we see them end
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t coordinator = ::fork();
  ASSERT_GE(coordinator, 0);
  if (coordinator == 0) {
    WorkerPool pool(Options("hang_ignoring_sigterm"));
    const int pid = pool.WaitReady().at("pid").get<int>();
    Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
    std::this_thread::sleep_for(milliseconds(100));
    if (::write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) ::_exit(1);
    for (;;) ::pause();
  }
  int worker = 0;
  ASSERT_EQ(::read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_EQ(::kill(worker, 0), 0);
  ASSERT_EQ(::kill(coordinator, SIGKILL), 0);
  ASSERT_EQ(::waitpid(coordinator, nullptr, 0), coordinator);
  const auto start = std::chrono::steady_clock::now();
  pid_t reaped = 0;
  int status = 0;
  while (reaped == 0 && std::chrono::steady_clock::now() - start < milliseconds(1000)) {
    reaped = ::waitpid(worker, &status, WNOHANG);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(reaped, worker) << "still there after a second";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  if (reaped != worker) ::kill(worker, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace evo
