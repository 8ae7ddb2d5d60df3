// Workers through a launcher: a shell that has the worker as a child of its own, as srun and ssh have it elsewhere.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "evaluator/workers/worker_main.h"
#include "evaluator/workers/worker_process.h"
#include "evaluator/workers/worker_start.h"
#include "tests/db/fixture_run.h"
#include "tests/evaluator/faulty_pool.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

bool Lives(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return status >> number >> name >> state && state != "Z";
}

// Whether a process of the group lives. One that has ended but that nobody has waited for does not.
bool AnyLives(pid_t group) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "stat");
    std::string number, name, state;
    pid_t parent = 0, own = 0;
    if (status >> number >> name >> state >> parent >> own && own == group && state != "Z") return true;
  }
  return false;
}

template <class Condition>
bool Within(milliseconds time, const Condition& condition) {
  const auto end = steady_clock::now() + time;
  while (!condition() && steady_clock::now() < end) ::usleep(5000);
  return condition();
}

// Found on the PATH. The second process of its group stands for what a launcher needs in order to end its worker.
WorkerPoolOptions Launched(const std::string& fault, const std::string& script) {
  WorkerPoolOptions options = Options(fault);
  const std::string worker = options.argv.front();
  options.argv = {"sh", "-c", script, "launcher", worker, kLaunched};
  options.launched = true;
  return options;
}

constexpr const char* kPlain = "\"$@\"; exit $?";

class LaunchedWorker : public ::testing::Test {
 protected:
  pid_t Shepherd() const {
    std::ifstream file(folder_ / "shepherd");
    pid_t pid = 0;
    file >> pid;
    return pid;
  }
  std::string WithShepherd(const std::string& before, const std::string& after) const {
    return before + "sleep 100 & echo $! > " + (folder_ / "shepherd").string() + "; \"$@\"; " + after;
  }
  testing::TemporaryFolder folder_;
};

TEST_F(LaunchedWorker, IsServedAndEndsWithItsPool) {
  pid_t worker = 0;
  {
    WorkerPool pool(Launched("", kPlain));
    const JobResult result = Answer(pool, {{"say", "hello"}});
    ASSERT_TRUE(result.reply) << result.death->description;
    EXPECT_EQ(result.reply->header.at("echo"), "hello");
    worker = Pid(result);
  }
  EXPECT_FALSE(Lives(worker));
}

// Its input is closed, which a worker that hangs does not see; its keeper does.
TEST_F(LaunchedWorker, ThatHangsIsEndedByItsKeeper) {
  WorkerPool pool(Launched("hang_ignoring_sigterm", kPlain));
  const pid_t worker = Pid(Answer(pool, {}));
  const auto begin = steady_clock::now();
  const JobResult result = Answer(pool, {{"misbehave", true}, {"stages", {{{"name", "load"}}}}}, kShort);
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kDeadline);
  EXPECT_FALSE(result.death->from_outside);
  EXPECT_LT(steady_clock::now() - begin, kShort + milliseconds(1500));
  EXPECT_FALSE(Lives(worker));
  EXPECT_NE(Pid(Answer(pool, {})), worker);
}

TEST_F(LaunchedWorker, WhatALauncherNeedsToEndItIsNotKilled) {
  {
    WorkerPool pool(Launched("", WithShepherd("", "exit $?")));
    ASSERT_TRUE(Answer(pool, {}).reply);
  }
  EXPECT_TRUE(Lives(Shepherd()));
  ::kill(Shepherd(), SIGKILL);
}

// It ignores the end of its input and SIGTERM.
TEST_F(LaunchedWorker, ALauncherThatDoesNotEndIsKilledAlone) {
  const auto begin = steady_clock::now();
  {
    WorkerPool pool(Launched("", WithShepherd("trap '' TERM; ", "while :; do sleep 0.1; done")));
    ASSERT_TRUE(Answer(pool, {}).reply);
  }
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(9));
  EXPECT_TRUE(Lives(Shepherd()));
  ::kill(Shepherd(), SIGKILL);
}

TEST_F(LaunchedWorker, ThatIsKilledCostsOnlyAnotherOne) {
  WorkerPool pool(Launched("", kPlain));
  const pid_t worker = Pid(Answer(pool, {}));
  ::kill(worker, SIGKILL);
  EXPECT_TRUE(Within(milliseconds(1000), [&] { return !Lives(worker); }));
  const JobResult next = Answer(pool, {});
  ASSERT_TRUE(next.reply) << next.death->description;
  EXPECT_NE(Pid(next), worker);
}

// With all that it has started: the launcher dies, and nobody reads the worker's output any more.
TEST_F(LaunchedWorker, EndsWhenEvoIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t evo = ::fork();
  if (evo == 0) {
    WorkerPool pool(Launched("compilers", kPlain));
    const pid_t worker = Pid(Answer(pool, {}));
    auto hangs = Submitted(pool, {{"misbehave", true}}, std::chrono::seconds(60));
    std::this_thread::sleep_for(milliseconds(200));
    if (::write(ends[1], &worker, sizeof worker) != sizeof worker) ::_exit(1);
    hangs.wait();
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ::kill(evo, SIGKILL);
  ::waitpid(evo, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_GT(worker, 0);
  EXPECT_TRUE(Within(milliseconds(1000), [&] { return !AnyLives(worker); }));
}

// As on a node that is frozen: neither the end of its input nor SIGTERM has an effect.
TEST_F(LaunchedWorker, AMachineThatDoesNotAnswerIsToBlame) {
  const WorkerPoolOptions options = Launched("", WithShepherd("trap '' TERM; ", "while :; do sleep 0.1; done"));
  WorkerProcess worker(options.argv, true);
  auto answer = worker.Receive(steady_clock::now() + kShort, {});
  const auto* death = std::get_if<WorkerDeath>(&answer);
  ASSERT_NE(death, nullptr);
  EXPECT_EQ(death->kind, WorkerDeath::Kind::kDeadline);
  EXPECT_TRUE(death->from_outside);
  EXPECT_THAT(death->description, HasSubstr("its machine does not answer"));
  ::kill(Shepherd(), SIGKILL);
}

// As ssh, which notices that a host is gone while it is being ended.
TEST(LaunchedWorkerProcess, AConnectionThatIsLostAtTheDeadlineIsToBlame) {
  WorkerProcess worker({"sh", "-c", "sleep 1.5; exit 255"}, true);
  auto answer = worker.Receive(steady_clock::now() + kShort, {});
  const auto* death = std::get_if<WorkerDeath>(&answer);
  ASSERT_NE(death, nullptr);
  EXPECT_EQ(death->kind, WorkerDeath::Kind::kDeadline);
  EXPECT_TRUE(death->from_outside);
  EXPECT_THAT(death->description, HasSubstr("its machine does not answer"));
}

// The launcher cannot see it, and evo sees the launcher alone.
TEST_F(LaunchedWorker, ThatSomethingElseHasStoppedIsReplacedLongBeforeItsDeadline) {
  WorkerPool pool(Launched("", kPlain));
  const pid_t worker = Pid(Answer(pool, {}));
  auto running = Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 300}}}}}, std::chrono::hours(1));
  std::this_thread::sleep_for(milliseconds(100));
  ASSERT_EQ(::kill(worker, SIGSTOP), 0);
  ASSERT_EQ(running.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  const JobResult result = running.get();
  ASSERT_TRUE(result.reply) << result.death->description;
  EXPECT_NE(Pid(result), worker);
}

// As at the end of an allocation, where the workers and evo are told to end at once. The launcher needs a second to say what
// became of the worker.
TEST_F(LaunchedWorker, ThatIsKilledWhileJobsAreCancelledIsNotCharged) {
  WorkerPool pool(Launched("", "\"$@\"; status=$?; exec >&- 2>&-; sleep 1; exit $status"));
  const pid_t worker = Pid(Answer(pool, {}));
  auto running = Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 60'000}}}}}, std::chrono::hours(1));
  std::this_thread::sleep_for(milliseconds(100));
  ::kill(worker, SIGTERM);
  EXPECT_TRUE(Within(milliseconds(1000), [&] { return !Lives(worker); }));
  std::this_thread::sleep_for(milliseconds(200));
  pool.Cancel();
  const JobResult result = running.get();
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kStopped) << result.death->description;
}

TEST_F(LaunchedWorker, SuspendHasNoEffect) {
  WorkerPool pool(Launched("", kPlain));
  auto slow = Submitted(pool, {{"stages", {{{"name", "check"}, {"ms", 200}}}}}, kShort);
  std::this_thread::sleep_for(milliseconds(50));
  pool.Suspend();
  EXPECT_TRUE(slow.get().reply);
  pool.Resume();
}

// As the steps of several nodes, one of which gets no GPU.
TEST_F(LaunchedWorker, EachSaysWhatItIsAndOneThatCannotStartIsLeftOut) {
  WorkerPoolOptions options = Launched("", kPlain);
  options.workers = 3;
  options.argv_of_worker = {options.argv, {"sh", "-c", "echo 'srun: error: Requested nodes are busy' >&2; exit 1"}, options.argv};
  std::string warning;
  options.warn = [&](const std::string& text) { warning = text; };
  WorkerPool pool(options);
  const std::vector<nlohmann::json> greetings = pool.WaitAllReady();
  ASSERT_EQ(greetings.size(), 2U);
  EXPECT_NE(greetings[0].at("pid"), greetings[1].at("pid"));
  EXPECT_TRUE(Answer(pool, {}).reply);
}

// As a host that nobody can reach: what the launcher says may not name it.
TEST_F(LaunchedWorker, WhereOneCannotBeStartedIsSaid) {
  WorkerPoolOptions options = Launched("", kPlain);
  options.workers = 2;
  options.place_of_worker = {"node7", "node8"};
  options.argv_of_worker = {options.argv, {"sh", "-c", "printf 'timed out\\r\\n' >&2; exit 255"}};
  std::promise<std::string> warning;
  options.warn = [&](const std::string& text) { warning.set_value(text); };
  WorkerPool pool(options);
  EXPECT_EQ(pool.FirstUsable(), 0U);
  EXPECT_THAT(warning.get_future().get(),
              HasSubstr("worker on node8 cannot be started: its launcher ended with status 255: timed out; the others"));
}

// As a node whose disk is full.
TEST_F(LaunchedWorker, WhatItsMachineCannotDoIsDoneElsewhere) {
  WorkerPoolOptions options = Launched("", kPlain);
  options.workers = 2;
  options.init_of_worker = {{{"fault", "print_to_stdout"}}, {{"fault", "no_room"}}};
  std::promise<std::string> warning;  // only one
  options.warn = [&](const std::string& text) { warning.set_value(text); };
  WorkerPool pool(options);
  pool.WaitAllReady();
  for (auto told = warning.get_future(); told.wait_for(milliseconds(0)) != std::future_status::ready;) {
    std::vector<std::future<JobResult>> jobs;
    for (int i = 0; i < 4; ++i) jobs.push_back(Submitted(pool, {{"misbehave", true}}));
    for (std::future<JobResult>& job : jobs) {
      const JobResult result = job.get();
      ASSERT_TRUE(result.reply) << result.death->description;
      EXPECT_FALSE(result.reply->header.contains("machine_failed"));
    }
    if (told.wait_for(milliseconds(0)) == std::future_status::ready) {
      EXPECT_EQ(told.get(), "faulty worker on a host of this name: no space is left; the others go on, and it is tried again");
      break;
    }
  }
}

TEST_F(LaunchedWorker, WhatNoMachineCanDoIsAnswered) {
  WorkerPoolOptions options = Launched("no_room", kPlain);
  options.workers = 2;
  WorkerPool pool(options);
  const JobResult result = Answer(pool, {{"misbehave", true}});
  ASSERT_TRUE(result.reply);
  EXPECT_TRUE(result.reply->header.contains("machine_failed"));
}

TEST_F(LaunchedWorker, TheFirstThatCanBeUsedIsKnown) {
  WorkerPoolOptions options = Launched("", kPlain);
  options.workers = 2;
  options.argv_of_worker = {{"sh", "-c", "exit 255"}, options.argv};
  WorkerPool pool(options);
  pool.WaitAllReady();
  EXPECT_EQ(pool.FirstUsable(), 1U);
}

// As on a node without a driver. Where there is only one machine, it ends the run.
TEST_F(LaunchedWorker, OneThatSaysWhyItCannotBeIsLeftOut) {
  WorkerPoolOptions options = Launched("", kPlain);
  options.workers = 2;
  options.init_of_worker = {nlohmann::json::object(), {{"fault", "cannot_be"}}};
  std::string warning;
  options.warn = [&](const std::string& text) { warning = text; };
  {
    WorkerPool pool(options);
    EXPECT_EQ(pool.WaitAllReady().size(), 1U);
    EXPECT_TRUE(Answer(pool, {}).reply);
  }
  EXPECT_THAT(warning, HasSubstr("a host of this name: no device here; the others go on"));
}

TEST_F(LaunchedWorker, AProgramThatIsNotOnThePathIsNamed) {
  WorkerPoolOptions options = Options("");
  options.argv.insert(options.argv.begin(), "no-such-launcher");
  options.launched = true;
  WorkerPool pool(options);
  const JobResult result = Answer(pool, {}, std::chrono::seconds(10));
  ASSERT_TRUE(result.death);
  EXPECT_THAT(result.death->description, HasSubstr("no-such-launcher: there is no such program on the PATH"));
}

int Exited(int status) { return status << 8; }

TEST(DeathOf, ALauncherTellsOfASignalAsAShellDoes) {
  const WorkerDeath crash = DeathOf(Exited(139), true);
  EXPECT_EQ(crash.kind, WorkerDeath::Kind::kSignalled);
  EXPECT_THAT(crash.description, HasSubstr("killed by signal 11"));
  EXPECT_FALSE(crash.from_outside);
  EXPECT_TRUE(DeathOf(Exited(137), true).from_outside);
  EXPECT_EQ(DeathOf(Exited(137), false).description, "exited with status 137");
}

TEST(DeathOf, OfANodeOrAConnectionIsNotTheCandidatesFault) {
  EXPECT_TRUE(DeathOf(Exited(0), true).from_outside);
  EXPECT_TRUE(DeathOf(Exited(255), true).from_outside);
  EXPECT_FALSE(DeathOf(Exited(0), false).from_outside);
  EXPECT_FALSE(DeathOf(Exited(3), true).from_outside);
}

}  // namespace
}  // namespace evo
