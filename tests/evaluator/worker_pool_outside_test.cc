// Workers that something else kills or stops, or that cannot be started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "tests/evaluator/faulty_pool.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = WorkerDeath::Kind;
using nlohmann::json;

const json kLasting = {{"stages", {{{"name", "load"}, {"ms", 300}}}}};

TEST(WorkerPoolOutside, AJobWhoseWorkerIsKilledIsRunAgain) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    WorkerPool pool(Options(""));
    const int pid = Pid(Answer(pool, json::object()));
    auto running = Submitted(pool, kLasting);
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_EQ(::kill(pid, signal), 0);
    const JobResult result = running.get();
    ASSERT_TRUE(result.reply) << result.death->description;
    EXPECT_NE(Pid(result), pid);
    EXPECT_EQ(result.reply->header["served"], 1);
  }
}

TEST(WorkerPoolOutside, AWorkerThatIsKilledWhileItIsIdleCostsNoJob) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, json::object()));
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  const JobResult result = Answer(pool, json::object());
  ASSERT_TRUE(result.reply) << result.death->description;
  EXPECT_NE(Pid(result), pid);
}

TEST(WorkerPoolOutside, ManyDeathsCount) {
  for (const auto& [fault, says] : {std::pair("killed", "killed by signal 9"), {"compiler_killed", "g++: killed by signal 9"}}) {
    WorkerPool pool(Options(fault));
    const JobResult result = Answer(pool, {{"misbehave", true}});
    ASSERT_TRUE(result.death);
    EXPECT_EQ(result.death->kind, Kind::kSignalled);
    EXPECT_TRUE(result.death->from_outside);
    EXPECT_THAT(result.death->description, HasSubstr(says));
    EXPECT_TRUE(Answer(pool, json::object()).reply) << "it costs no other job";
  }
}

TEST(WorkerPoolOutside, ACrashIsNotRunAgain) {
  WorkerPool pool(Options("abort"));
  const JobResult result = Answer(pool, {{"misbehave", true}});
  ASSERT_TRUE(result.death);
  EXPECT_FALSE(result.death->from_outside);
}

TEST(WorkerPoolOutside, AWorkerThatIsStoppedIsReplacedLongBeforeItsDeadline) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, kLasting, std::chrono::hours(1));
  std::this_thread::sleep_for(milliseconds(100));
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  ASSERT_EQ(running.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  const JobResult result = running.get();
  ASSERT_TRUE(result.reply) << result.death->description;
  EXPECT_NE(Pid(result), pid);
}

TEST(WorkerPoolOutside, AJobThatStopsItsWorkerAgainIsCharged) {
  // At the same time, since each waits seconds twice.
  WorkerPool first(Options("stops_itself")), second(Options("compiler_stopped"));
  auto of_worker = Submitted(first, {{"misbehave", true}}, std::chrono::hours(1));
  auto of_compiler = Submitted(second, {{"misbehave", true}}, std::chrono::hours(1));
  for (auto* running : {&of_worker, &of_compiler}) {
    ASSERT_EQ(running->wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_THAT(running->get().death->description, HasSubstr("stopped by a signal"));
  }
}

// The first process that `parent` has started and not yet waited for; 0 if there is none.
int ChildOf(int parent) {
  int child = 0;
  std::ifstream("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children") >> child;
  return child;
}

TEST(WorkerPoolOutside, AWorkerWhoseCompilerIsStoppedIsReplacedLongBeforeItsDeadline) {
  WorkerPool pool(Options("compilers"));
  const int pid = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
  while (ChildOf(pid) == 0) std::this_thread::sleep_for(milliseconds(10));
  ASSERT_EQ(::kill(ChildOf(pid), SIGSTOP), 0);
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (::kill(pid, 0) == 0 && std::chrono::steady_clock::now() < latest) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_NE(::kill(pid, 0), 0);
  pool.Cancel();
  EXPECT_EQ(running.get().death->kind, Kind::kStopped);
}

TEST(WorkerPoolOutside, ASuspendedWorkerIsNotTakenForStopped) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, json::object()));
  auto running = Submitted(pool, kLasting);
  std::this_thread::sleep_for(milliseconds(50));
  pool.Suspend();
  std::this_thread::sleep_for(milliseconds(1500));
  pool.Resume();
  EXPECT_EQ(Pid(running.get()), pid);
}

TEST(WorkerPoolOutside, ARetriedJobCanBeCancelled) {
  WorkerPool pool(Options("stops_itself"));
  auto running = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
  std::this_thread::sleep_for(milliseconds(1500));  // the second worker has it
  pool.Cancel();
  ASSERT_EQ(running.wait_for(milliseconds(1000)), std::future_status::ready);
  EXPECT_EQ(running.get().death->kind, Kind::kStopped);
}

// A file in a folder of this test's own.
class StartsFile {
 public:
  StartsFile() { path_ = ::mkdtemp(name_); }
  ~StartsFile() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_ + "/starts"; }

 private:
  char name_[32] = "/tmp/evo-starts-XXXXXX";
  std::string path_;
};

TEST(WorkerPoolOutside, AWorkerThatFailsToStartIsTriedAgainAfterPauses) {
  const StartsFile starts;
  WorkerPoolOptions options = Options("");
  options.init["starts_file"] = starts.path();
  options.init["failed_starts"] = 5;
  WorkerPool pool(options);
  const JobResult result = Answer(pool, json::object());
  ASSERT_TRUE(result.reply) << result.death->description;
  EXPECT_THAT(pool.fatal(), IsEmpty());
}

// Each has waited long for something.
TEST(WorkerPoolOutside, TwoStartsThatPassTheirDeadlineAreEnough) {
  const StartsFile starts;
  WorkerPoolOptions options = Options("hangs_at_start");
  options.init["starts_file"] = starts.path();
  options.init["failed_starts"] = 0;
  options.start_deadline = kShort;
  WorkerPool pool(options);
  EXPECT_THROW(pool.WaitReady(), Error);
  EXPECT_EQ(std::filesystem::file_size(starts.path()), 2U);
}

TEST(WorkerPoolOutside, WorkersThatCannotBeStartedAreDoneWithout) {
  std::mutex mutex;
  std::vector<std::string> warnings;
  WorkerPoolOptions options = Options("");
  options.workers = 3;
  options.init_of_worker = {json::object(), {{"fault", "exits_at_start"}}, {{"fault", "exits_at_start"}}};
  options.warn = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    warnings.push_back(text);
  };
  WorkerPool pool(options);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(Answer(pool, {{"stages", {{{"name", "load"}, {"ms", 5}}}}}).reply) << i;
  }
  EXPECT_THAT(pool.fatal(), IsEmpty());
  const std::lock_guard lock(mutex);
  ASSERT_THAT(warnings, SizeIs(2)) << "one for each worker";
  EXPECT_THAT(warnings[0], HasSubstr("faulty worker cannot be started: exited with status 5"));
}

// The processes of a group that are left after two seconds. Reaps those that have become our children.
bool GroupEnds(pid_t group) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < milliseconds(2000)) {
    while (::waitpid(-group, nullptr, WNOHANG) > 0) {
    }
    if (::kill(-group, 0) != 0) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  ::kill(-group, SIGKILL);
  return false;
}

// A batch system stops and continues all processes of a job, and Ctrl-Z stops evo alone.
TEST(WorkerPoolOutside, TheTimeThatAllAreStoppedCountsForNobody) {
  const pid_t coordinator = ::fork();
  ASSERT_GE(coordinator, 0);
  if (coordinator == 0) {
    bool replied = false;
    {
      WorkerPool pool(Options(""));
      const int pid = Pid(Answer(pool, json::object()));
      auto running =
          Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 400}}, {{"name", "check"}, {"ms", 400}}}}}, milliseconds(700));
      std::this_thread::sleep_for(milliseconds(100));
      ::kill(pid, SIGSTOP);
      ::raise(SIGSTOP);
      ::kill(pid, SIGCONT);
      const JobResult result = running.get();
      replied = Pid(result) == pid;
    }
    ::_exit(replied ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(coordinator, &status, WUNTRACED), coordinator);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(milliseconds(2000));
  ::kill(coordinator, SIGCONT);
  ASSERT_EQ(::waitpid(coordinator, &status, 0), coordinator);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

class Coordinator : public ::testing::TestWithParam<bool> {};

// The compilers that a worker has started do not outlive a coordinator that is killed, whether they run or are suspended.
TEST_P(Coordinator, TakesTheCompilersWithIt) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans become our children, so that we see them end
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t coordinator = ::fork();
  ASSERT_GE(coordinator, 0);
  if (coordinator == 0) {
    WorkerPool pool(Options("compilers"));
    const int pid = pool.WaitReady().at("pid").get<int>();
    Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
    std::this_thread::sleep_for(milliseconds(200));
    if (GetParam()) pool.Suspend();
    if (::write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_EQ(::kill(-worker, 0), 0);
  ASSERT_EQ(::kill(coordinator, SIGKILL), 0);
  ASSERT_EQ(::waitpid(coordinator, nullptr, 0), coordinator);
  EXPECT_TRUE(GroupEnds(worker)) << "something is left after two seconds";
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

INSTANTIATE_TEST_SUITE_P(, Coordinator, ::testing::Bool(),
                         [](const auto& value) { return value.param ? "Suspended" : "Running"; });

}  // namespace
}  // namespace evo
