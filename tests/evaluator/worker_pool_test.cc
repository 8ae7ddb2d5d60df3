#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "core/error.h"
#include "tests/evaluator/faulty_pool.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = WorkerDeath::Kind;
using nlohmann::json;

struct Fault {
  const char* name;
  Kind death;
  const char* says;
  bool hangs = false;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class WorkerPoolFault : public ::testing::TestWithParam<Fault> {};

// Each death is described and costs only its own job; the next job gets a fresh worker.
TEST_P(WorkerPoolFault, IsTheDeathOfItsJobOnly) {
  const Fault& fault = GetParam();
  WorkerPool pool(Options(fault.name));
  const JobResult before = Answer(pool, {{"say", "before"}});
  ASSERT_TRUE(before.reply);
  auto bad = Submitted(pool, {{"misbehave", true}, {"stages", {{{"name", "load"}}, {{"name", "check"}}}}},
                       fault.hangs ? kShort : kLongDeadline);
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
                                           Fault{"odd_run", Kind::kProtocol, "sent a malformed reply"},
                                           Fault{"unknown_type", Kind::kProtocol, "greeting"},
                                           Fault{"grandchild", Kind::kExited, "exited with status 3"}),
                         [](const auto& value) { return std::string(value.param.name); });

// Making itself ready may take a worker seconds, and the first job a compile.
TEST(WorkerPool, ASetupIsSentBeforeThereIsAJob) {
  WorkerPool pool(Options("exit"));
  pool.WaitReady();
  EXPECT_EQ(pool.fatal(), "");
  Message setup;
  setup.header["misbehave"] = true;
  pool.SetSetup(setup);
  const auto end = std::chrono::steady_clock::now() + milliseconds(30'000);
  while (pool.fatal().empty() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_THAT(pool.fatal(), HasSubstr("exited with status 7"));
}

TEST(WorkerPool, TheDeathIsChargedToTheStage) {
  WorkerPool pool(Options("abort"));
  const JobResult result =
      Answer(pool, {{"misbehave", true}, {"stages", {{{"name", "load"}, {"ms", 300}}, {{"name", "check"}}}}});
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.stage, Stage::kCheck);
  EXPECT_GE(result.stage_ms.at(Stage::kLoad), 100) << "a busy machine may read the first marker late";
  EXPECT_TRUE(result.stage_ms.contains(Stage::kCheck));
}

TEST(WorkerPool, ADeathSaysWhoRanOnWhat) {
  WorkerPool pool(Options("abort"));
  const json stages{{{"name", "check"}}};
  const JobResult result = Answer(pool, {{"misbehave", true}, {"stages", stages}, {"on", "N=3"}});
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.stage, Stage::kCheck);
  EXPECT_EQ(result.run.on.case_name, "N=3");
  EXPECT_EQ(result.run.on.inputs, "x: normal");
  EXPECT_TRUE(result.run.of_baseline);
  EXPECT_TRUE(Answer(pool, {{"stages", stages}}).run.on.case_name.empty()) << "a stage begins without";
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

TEST(WorkerPool, AWorkerThatMustRestartIsReplaced) {
  WorkerPool pool(Options("must_restart"));
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

TEST(WorkerPool, AWorkerThatHangsDoesNotDelayTheOthers) {
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

TEST(WorkerPool, MarkersWithoutEndDoNotHoldAJobForEver) {
  WorkerPool pool(Options(""));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  const auto start = std::chrono::steady_clock::now();
  const JobResult result = Answer(pool, {{"markers", true}}, milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(2000));
  EXPECT_TRUE(result.death);
}

TEST(WorkerPool, APartOfAStageThatComesAgainHasOnlyWhatIsLeft) {
  WorkerPool pool(Options(""));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  json stages = json::array();
  for (int i = 0; i < 10; ++i) stages.push_back({{"name", "check"}, {"ms", 150}});
  const JobResult result = Answer(pool, {{"stages", stages}}, milliseconds(400));
  ASSERT_TRUE(result.death) << "1500 ms of one stage";
  EXPECT_EQ(result.death->kind, Kind::kDeadline);
  EXPECT_EQ(result.death->description, "all parts together took over 2 times 0.4 s: deadline passed");
}

JobResult RunWithLatest(WorkerPool& pool, const nlohmann::json& request, milliseconds deadline, milliseconds latest) {
  Job job;
  job.request.header = request;
  job.deadline = deadline;
  job.latest = latest;
  return RunAndWait(pool, {job}, {}).front();
}

TEST(WorkerPool, ADeadlineOfProcessorTimeDoesNotCountWaiting) {
  WorkerPool pool(Options(""));
  const nlohmann::json waits = {{"stages", {{{"name", "compile"}, {"ms", 700}}}}};
  EXPECT_TRUE(RunWithLatest(pool, waits, milliseconds(200), std::chrono::hours(1)).reply);
  const JobResult at_the_latest = RunWithLatest(pool, waits, milliseconds(100), milliseconds(300));
  ASSERT_TRUE(at_the_latest.death);
  EXPECT_EQ(at_the_latest.death->kind, Kind::kDeadline);
  EXPECT_EQ(at_the_latest.death->description, "took over 0.1 s of processor time, or 0.3 s: deadline passed");
}

TEST(WorkerPool, ADeadlineOfProcessorTimeEndsWhatComputes) {
  WorkerPool pool(Options("computes"));
  const JobResult result = RunWithLatest(pool, {{"misbehave", true}}, milliseconds(300), std::chrono::hours(1));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, Kind::kDeadline);
}

TEST(WorkerPool, ADeathAtADeadlineSaysWhichAndWhereItComesFrom) {
  WorkerPool pool(Options("hang"));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  Job job;
  job.request.header = {{"misbehave", true}, {"stages", {{{"name", "check"}}}}};
  job.deadline = milliseconds(100);
  job.deadline_rule = "4 times what the slowest template took, 0.1 s at least";
  EXPECT_EQ(RunAndWait(pool, {job}, {}).front().death->description,
            "took over 0.1 s (4 times what the slowest template took, 0.1 s at least): deadline passed");
  job.stage_deadlines = {{Stage::kCheck, milliseconds(200)}};
  EXPECT_EQ(RunAndWait(pool, {job}, {}).front().death->description, "took over 0.2 s: deadline passed");
}

TEST(WorkerPool, AStageMayHaveADeadlineOfItsOwn) {
  WorkerPool pool(Options("hang"));
  ASSERT_TRUE(Answer(pool, json::object()).reply);
  std::promise<JobResult> promise;
  Job job;
  job.request.header = {{"stages", {{{"name", "load"}, {"ms", 400}}, {{"name", "check"}}}}, {"misbehave", true}};
  job.deadline = kLongDeadline;
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
  EXPECT_EQ(result.death->kind, Kind::kCannotStart);
  EXPECT_THAT(result.death->description, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    , WorkerPoolStart,
    ::testing::Values(BadStart{"exits_at_start", "exited with status 5"}, BadStart{"hangs_at_start", "deadline passed"},
                      BadStart{"cannot_be", "no device here"}, BadStart{"odd_at_start", "sent a malformed reply"},
                      BadStart{"nested_at_start", "nested too deeply"}, BadStart{"large_at_start", "a message of"},
                      BadStart{"floods_at_start", "wrote more than 1 MiB to standard error"},
                      BadStart{"compiler_killed_at_start", "g++: killed by signal 9"},
                      BadStart{"no_program", "/nowhere/evo-worker"}, BadStart{"other_role", "another version"}),
    [](const auto& value) { return std::string(value.param.fault); });

}  // namespace
}  // namespace evo
