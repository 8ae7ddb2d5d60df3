#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "core/error.h"
#include "platform/installation.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = WorkerDeath::Kind;
using nlohmann::json;

constexpr milliseconds kShort{300};      // what a worker that hangs is given
constexpr milliseconds kPatience{5000};  // what nothing should ever take

WorkerPoolOptions Options(const std::string& fault) {
  WorkerPoolOptions options;
  options.name = "faulty";
  options.argv = {(ProgramDirectory() / "fault_injection_worker").string()};
  options.init = {{"role", "faulty"}, {"fault", fault}};
  return options;
}

std::future<JobResult> Submitted(WorkerPool& pool, const json& request, milliseconds deadline = kPatience) {
  auto promise = std::make_shared<std::promise<JobResult>>();
  Job job;
  job.request.header = request;
  job.deadline = deadline;
  pool.Submit(std::move(job), [promise](JobResult result) { promise->set_value(std::move(result)); });
  return promise->get_future();
}

JobResult Answer(WorkerPool& pool, const json& request, milliseconds deadline = kPatience) {
  return Submitted(pool, request, deadline).get();
}

int Pid(const JobResult& result) { return result.reply ? result.reply->header.at("pid").get<int>() : 0; }

// The letter of /proc/PID/stat: T is stopped.
char StateOf(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto end = text.rfind(')');
  return end == std::string::npos ? '-' : text[end + 2];
}

struct Fault {
  const char* name;
  Kind death;
  const char* says;
  bool hangs = false;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class WorkerPoolFault : public ::testing::TestWithParam<Fault> {};

// Each death is described, costs its own job only, and the next job has a fresh worker.
TEST_P(WorkerPoolFault, IsTheDeathOfItsJobOnly) {
  const Fault& fault = GetParam();
  WorkerPool pool(Options(fault.name));
  const JobResult before = Answer(pool, {{"say", "before"}});
  ASSERT_TRUE(before.reply);
  auto bad = Submitted(pool, {{"misbehave", true}, {"stages", {{{"name", "load"}}, {{"name", "check"}}}}},
                       fault.hangs ? kShort : kPatience);
  auto queued = Submitted(pool, {{"say", "behind a death"}});
  const auto start = std::chrono::steady_clock::now();
  const JobResult result = bad.get();
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(2000));
  EXPECT_FALSE(result.reply);
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, fault.death) << result.death->description;
  EXPECT_THAT(result.death->description, HasSubstr(fault.says));
  const JobResult after = queued.get();
  ASSERT_TRUE(after.reply) << after.death->description;
  EXPECT_EQ(after.reply->header["echo"], "behind a death");
  EXPECT_EQ(after.reply->header["served"], 1);
  EXPECT_NE(Pid(after), Pid(before));
  EXPECT_EQ(::kill(Pid(before), 0), -1) << "the old one was reaped";
}

INSTANTIATE_TEST_SUITE_P(, WorkerPoolFault,
                         ::testing::Values(Fault{"abort", Kind::kSignalled, "killed by signal 6 (Aborted): about to abort"},
                                           Fault{"exit", Kind::kExited, "exited with status 7"},
                                           Fault{"throw", Kind::kExited, "exited with status 1: out of luck"},
                                           Fault{"hang", Kind::kDeadline, "deadline passed", true},
                                           Fault{"hang_ignoring_sigterm", Kind::kDeadline, "deadline passed", true},
                                           Fault{"flood_stderr_for_ever", Kind::kDeadline, "deadline passed: xxx", true},
                                           Fault{"flood_stdout", Kind::kProtocol, "sent a malformed reply"},
                                           Fault{"die_mid_reply", Kind::kExited, "exited with status 4"},
                                           Fault{"hang_mid_reply", Kind::kDeadline, "deadline passed", true},
                                           Fault{"lie_about_length", Kind::kProtocol, "sent a malformed reply: a message of"},
                                           Fault{"promise_more", Kind::kDeadline, "deadline passed", true},
                                           Fault{"odd_header", Kind::kProtocol, "sent a malformed reply"},
                                           Fault{"odd_marker", Kind::kProtocol, "sent a malformed reply"},
                                           Fault{"unknown_type", Kind::kProtocol, "greeting"},
                                           Fault{"grandchild", Kind::kExited, "exited with status 3"}),
                         [](const auto& value) { return std::string(value.param.name); });

TEST(WorkerPool, TheDeathIsChargedToTheStage) {
  WorkerPool pool(Options("abort"));
  const JobResult result = Answer(pool, {{"misbehave", true}, {"stages", {{{"name", "load"}, {"ms", 30}}, {{"name", "check"}}}}});
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.stage, Stage::kCheck);
  EXPECT_GE(result.stage_ms.at(Stage::kLoad), 30);
  EXPECT_TRUE(result.stage_ms.contains(Stage::kCheck));
}

TEST(WorkerPool, AWorkerServesJobAfterJob) {
  WorkerPool pool(Options(""));
  const int pid = Pid(Answer(pool, {{"say", "one"}}));
  for (int i = 2; i < 50; ++i) {
    const JobResult result = Answer(pool, {{"say", "more"}});
    EXPECT_EQ(Pid(result), pid);
    EXPECT_EQ(result.reply->header["served"], i);
  }
}

TEST(WorkerPool, LargeBodiesGoBothWays) {
  WorkerPool pool(Options(""));
  std::promise<JobResult> promise;
  Job job;
  job.request.bodies = {std::string(30'000'000, 'b'), std::string("\0\xff", 2)};
  const auto bodies = job.request.bodies;
  pool.Submit(std::move(job), [&](JobResult result) { promise.set_value(std::move(result)); });
  const JobResult result = promise.get_future().get();
  ASSERT_TRUE(result.reply) << result.death->description;
  EXPECT_TRUE(result.reply->bodies == bodies);
}

TEST(WorkerPool, NoiseDoesNoHarm) {
  for (const std::string fault : {"flood_stderr", "print_to_stdout"}) {
    WorkerPool pool(Options(fault));
    const JobResult result = Answer(pool, {{"misbehave", true}, {"say", "still here"}});
    ASSERT_TRUE(result.reply) << fault << ": " << result.death->description;
    EXPECT_EQ(result.reply->header["echo"], "still here");
  }
}

TEST(WorkerPool, AWorkerThatIsSpentIsReplaced) {
  WorkerPool pool(Options("spent"));
  const JobResult last = Answer(pool, {{"misbehave", true}});
  ASSERT_TRUE(last.reply) << "its last job is a good one";
  const JobResult next = Answer(pool, json::object());
  ASSERT_TRUE(next.reply);
  EXPECT_NE(Pid(next), Pid(last));
}

TEST(WorkerPool, FreshMeansAProcessForEveryJob) {
  WorkerPoolOptions options = Options("");
  options.fresh = true;
  WorkerPool pool(options);
  const int first = Pid(Answer(pool, json::object()));
  const int second = Pid(Answer(pool, json::object()));
  EXPECT_NE(first, second);
  EXPECT_GT(second, 0);
}

TEST(WorkerPool, AStandbyTakesOver) {
  WorkerPoolOptions options = Options("exit");
  options.standby = true;
  WorkerPool pool(options);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(Answer(pool, {{"misbehave", true}}).death);
    EXPECT_TRUE(Answer(pool, json::object()).reply);
  }
}

TEST(WorkerPool, OneThatHangsDoesNotHoldUpTheOthers) {
  WorkerPoolOptions options = Options("hang");
  options.workers = 2;
  WorkerPool pool(options);
  auto hanging = Submitted(pool, {{"misbehave", true}}, milliseconds(1500));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Answer(pool, json::object()).reply);
  EXPECT_EQ(hanging.wait_for(milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(hanging.get().death->kind, Kind::kDeadline);
}

TEST(WorkerPool, EveryMarkerStartsTheClockAnew) {
  WorkerPool pool(Options(""));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  const json stages = {{{"name", "load"}, {"ms", 250}}, {{"name", "check"}, {"ms", 250}}, {{"name", "time"}, {"ms", 250}}};
  const JobResult result = Answer(pool, {{"stages", stages}}, milliseconds(500));
  EXPECT_TRUE(result.reply) << "750 ms in all, but never 500 in one stage";
  EXPECT_EQ(result.stage, Stage::kTime);
}

TEST(WorkerPool, AStageMayHaveADeadlineOfItsOwn) {
  WorkerPool pool(Options("hang"));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  std::promise<JobResult> promise;
  Job job;
  job.request.header = {{"stages", {{{"name", "load"}, {"ms", 400}}, {{"name", "check"}}}}, {"misbehave", true}};
  job.deadline = kPatience;
  job.stage_deadlines = {{Stage::kCheck, milliseconds(100)}};
  const auto start = std::chrono::steady_clock::now();
  pool.Submit(std::move(job), [&](JobResult result) { promise.set_value(std::move(result)); });
  const JobResult result = promise.get_future().get();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.death->kind, Kind::kDeadline);
  EXPECT_EQ(result.stage, Stage::kCheck);
  EXPECT_GE(took, milliseconds(500));
  EXPECT_LT(took, milliseconds(2000));
}

// on_enter and on_leave come in pairs, whatever becomes of the job.
TEST(WorkerPool, AStageThatWaitsIsEnteredAndLeft) {
  for (const bool misbehave : {false, true}) {
    WorkerPool pool(Options("exit"));
    std::vector<std::string> events;
    std::promise<JobResult> promise;
    Job job;
    job.request.header = {{"misbehave", misbehave}, {"stages", {{{"name", "check"}}, {{"name", "time"}, {"wait", true}}}}};
    job.on_enter = [&](Stage stage) { events.push_back(fmt::format("enter {}", ToString(stage))); };
    job.on_leave = [&](Stage stage) { events.push_back(fmt::format("leave {}", ToString(stage))); };
    pool.Submit(std::move(job), [&](JobResult result) { promise.set_value(std::move(result)); });
    EXPECT_EQ(promise.get_future().get().reply.has_value(), !misbehave);
    EXPECT_THAT(events, ElementsAre("enter time", "leave time"));
  }
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

TEST(WorkerPool, WaitReadyGivesWhatTheRoleSaysOfItself) {
  WorkerPool pool(Options(""));
  const json ready = pool.WaitReady();
  EXPECT_EQ(ready.at("pid"), Pid(Answer(pool, json::object())));
  EXPECT_THAT(pool.fatal(), IsEmpty());
}

struct BadStart {
  const char* fault;
  const char* says;
};

void PrintTo(const BadStart& start, std::ostream* out) { *out << start.fault; }

class WorkerPoolStart : public ::testing::TestWithParam<BadStart> {};

TEST_P(WorkerPoolStart, ThatFailsIsFatalAndSaysWhy) {
  WorkerPoolOptions options = Options(GetParam().fault);
  options.start_deadline = kShort;
  if (options.init["fault"] == "no_program") options.argv = {"/nowhere/evo-worker"};
  if (options.init["fault"] == "other_role") options.init["role"] = "cook";
  WorkerPool pool(options);
  EXPECT_THROW(pool.WaitReady(), Error);
  EXPECT_THAT(pool.fatal(), AllOf(HasSubstr("faulty worker cannot be started"), HasSubstr(GetParam().says)));
  const JobResult result = Answer(pool, json::object());
  ASSERT_TRUE(result.death);
  EXPECT_THAT(result.death->description, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(, WorkerPoolStart,
                         ::testing::Values(BadStart{"exits_at_start", "exited with status 5"},
                                           BadStart{"hangs_at_start", "deadline passed"}, BadStart{"cannot_be", "no device here"},
                                           BadStart{"odd_at_start", "sent a malformed reply"},
                                           BadStart{"no_program", "/nowhere/evo-worker"},
                                           BadStart{"other_role", "another version"}),
                         [](const auto& value) { return std::string(value.param.fault); });

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
  EXPECT_EQ(StateOf(pid), '-') << "gone, not left stopped";
  pool.Resume();
  EXPECT_TRUE(Answer(pool, json::object()).reply);
}

// Whatever happens to the coordinator, nothing of it stays behind: not even a worker in the middle of an endless kernel.
TEST(WorkerPool, WorkersDieWithTheirParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans come to us, so that their end is seen
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
