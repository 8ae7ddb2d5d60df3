// Workers that a launcher starts and a tool watches: the real keeper, and a program in the place of compute-sanitizer that takes
// the same options and writes the same reports.
#include "evaluator/workers/watched_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include "evaluator/workers/sanitizer.h"
#include "evaluator/workers/worker_main.h"
#include "tests/db/fixture_run.h"
#include "tests/evaluator/faulty_pool.h"
#include "tests/evaluator/stand_in_toolkit.h"
#include "tests/evaluator/tool_results.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

std::vector<std::string> Words(const std::vector<ToolResult>& results) {
  std::vector<std::string> words;
  for (const ToolResult& one : results) words.push_back(one.result);
  return words;
}

class WatchedWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "tmp");
    ::setenv("CUDA_HOME", toolkit_.folder().c_str(), 1);
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")) << "a report was left behind";
    ::unsetenv("CUDA_HOME");
    ::unsetenv("TMPDIR");
  }
  static WorkerPoolOptions Launched(const std::string& fault) {
    WorkerPoolOptions options = Options(fault);
    options.argv = {"sh", "-c", "\"$@\"; exit $?", "launcher", std::string(options.argv.front()), kLaunched};
    options.launched = true;
    options.start_deadline = std::chrono::seconds(5);
    return options;
  }
  // A job of a worker with that fault, which is on this machine or has a launcher and a keeper.
  std::vector<ToolResult> CheckOn(bool launched, const std::string& fault) const {
    Job job;
    job.request.header = {{"misbehave", true}};
    return Results(Sanitizer(toolkit_.folder(), launched ? Launched(fault) : Options(fault), {}).Check({{job, ""}}, 0, {}));
  }
  // Whether a process runs the program that stands in for the tool.
  bool LeftOfTheToolkit() const {
    const std::string program = (toolkit_.folder() / "bin" / "compute-sanitizer").string();
    return std::system(("pgrep -f '^[^ ]*bash " + program + "' >" + (folder_ / "left").string()).c_str()) == 0;
  }
  // All four tools on one job.
  std::vector<ToolResult> Check(const std::string& fault = "",
                                std::chrono::milliseconds deadline = std::chrono::seconds(30)) const {
    const WorkerPoolOptions options = Launched(fault);
    Job job;
    job.request.header = {{"misbehave", !fault.empty()}, {"stages", {{{"name", "load"}}}}};
    job.deadline = deadline;
    return Results(Sanitizer("", options, {}).Check({{job, ""}}, 0, {}));
  }

  testing::TemporaryFolder folder_;
  StandInToolkit toolkit_{folder_ / "toolkit"};
};

TEST_F(WatchedWorker, HasItsReportSentByItsKeeper) {
  toolkit_.Write("\"$@\"; Report '========= ERROR SUMMARY: 0 errors'");
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "clean")));
  EXPECT_THAT(toolkit_.Calls(), HasSubstr("--tool memcheck --log-file " + (folder_ / "tmp").string()));
  EXPECT_THAT(toolkit_.Calls(), HasSubstr("--print-limit 3 --report-api-errors no --padding 512 /"));
}

// The report comes when the worker has ended, which takes a tool seconds.
TEST_F(WatchedWorker, AnErrorIsReported) {
  toolkit_.Write(
      "\"$@\"; [ $tool = memcheck ] || sleep 20; sleep 1; Report '========= Invalid __global__ write of size 4 bytes' "
      "'=========     at k(float *)+0x70' '========= ERROR SUMMARY: 3 errors'");
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 1U) << "an error ends the tools after it";
  EXPECT_EQ(results.front().tool, "memcheck");
  EXPECT_EQ(results.front().result, "error");
  EXPECT_EQ(results.front().message, "Invalid __global__ write of size 4 bytes at k(float *)+0x70");
}

TEST_F(WatchedWorker, AnErrorThatEndsTheWorkerIsReported) {
  toolkit_.Write("\"$@\"; status=$?; Report '========= Out of range' '========= ERROR SUMMARY: 1 error'; exit $status");
  const std::vector<ToolResult> results = Check("abort");
  ASSERT_FALSE(results.empty());
  EXPECT_THAT(results, Each(Field(&ToolResult::message, "Out of range")));
}

// As one that finds no memory for its context. The tool has seen nothing, and says that there is no error.
TEST_F(WatchedWorker, ThatEndsBeforeItsAnswerIsNotClean) {
  toolkit_.Write("\"$@\"; status=$?; Report '========= ERROR SUMMARY: 0 errors'; exit $status");
  const std::pair<std::string, std::string> faults[] = {{"exits_at_start", "cannot be started"}, {"exit", "status 7"}};
  for (const bool launched : {false, true}) {
    for (const auto& [fault, why] : faults) {
      const std::vector<ToolResult> results = CheckOn(launched, fault);
      ASSERT_EQ(results.size(), 4U);
      EXPECT_THAT(results, Each(Field(&ToolResult::result, "unsupported"))) << fault << (launched ? " launched" : "");
      EXPECT_THAT(results, Each(Field(&ToolResult::message, HasSubstr(why)))) << results[0].message;
    }
  }
}

TEST_F(WatchedWorker, ThatCouldNotStartBesideTheOthersIsWatchedAgainAlone) {
  toolkit_.Write("\"$@\"; Report '========= ERROR SUMMARY: 0 errors'");
  constexpr int kTools = 4, kStarts = 6;  // a pool tries so often to start a worker
  WorkerPoolOptions options = Options("");
  options.init.update({{"starts_file", (folder_ / "starts").string()}, {"failed_starts", kTools * kStarts}});
  const std::vector<ToolResult> results = Results(Sanitizer(toolkit_.folder(), options, {}).Check({{}}, 0, {}));
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "clean")));
  EXPECT_EQ(toolkit_.Count(), kTools * kStarts + kTools);
}

TEST_F(WatchedWorker, WithoutTheProgramIsSaidToBeSo) {
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "missing")));
  EXPECT_THAT(results, Each(Field(&ToolResult::message, HasSubstr("a host of this name: the CUDA toolkit has no"))));
}

// As one that does not know the GPU.
TEST_F(WatchedWorker, AToolThatEndsFirstIsUnsupported) {
  toolkit_.Write("Report '========= Error: no such device'; exit 1");
  const std::vector<ToolResult> results = Check();
  ASSERT_EQ(results.size(), 4U);
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "unsupported")));
  EXPECT_THAT(results, Each(Field(&ToolResult::message, HasSubstr("no such device"))));
}

// The kernel, not its host, is to blame. Each tool runs again alone.
TEST_F(WatchedWorker, ThatHangsIsATimeout) {
  toolkit_.Write("\"$@\"; Report '========= ERROR SUMMARY: 0 errors'");
  const std::vector<ToolResult> results = Check("hang", std::chrono::milliseconds(1500));
  ASSERT_EQ(results.size(), 4U);
  EXPECT_THAT(results, Each(Field(&ToolResult::result, "timeout")));
  EXPECT_EQ(toolkit_.Count(), 8);
}

// All tools on two cases, with a worker each that hangs; on this machine, and through a launcher with a keeper.
TEST_F(WatchedWorker, AStopRequestLeavesNoToolBehind) {
  toolkit_.Write("\"$@\"");
  for (const bool launched : {false, true}) {
    std::ofstream(toolkit_.folder() / "calls");
    WorkerPoolOptions options = launched ? Launched("hang") : Options("hang");
    Job job;
    job.request.header = {{"misbehave", true}, {"stages", {{{"name", "load"}}}}};
    const std::vector<ToolCase> cases{{job, ""}, {job, "timed"}};
    std::stop_source stop;
    const std::jthread stopper([&] {
      while (toolkit_.Count() < 8) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_TRUE(LeftOfTheToolkit());
      stop.request_stop();
    });
    EXPECT_THAT(Sanitizer(toolkit_.folder(), options, {}).Check(cases, 0, stop.get_token()), ::testing::IsEmpty());
    while (LeftOfTheToolkit()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(WatchedWorker, AToolThatHangsBeforeTheWorkerIsUnsupported) {
  toolkit_.Write("[ $tool = racecheck ] && sleep 1000; \"$@\"; Report '========= ERROR SUMMARY: 0 errors'");
  EXPECT_THAT(Words(Check()), ElementsAre("clean", "unsupported", "clean", "clean"));
}

TEST_F(WatchedWorker, AToolThatHangsAfterTheWorkerIsUnsupported) {
  toolkit_.Write("\"$@\"; [ $tool = racecheck ] && sleep 1000; Report '========= ERROR SUMMARY: 0 errors'");
  const std::vector<ToolResult> results = Check();
  EXPECT_THAT(Words(results), ElementsAre("clean", "unsupported", "clean", "clean"));
  EXPECT_EQ(results[1].message, "the tool wrote no summary");
}

}  // namespace
}  // namespace evo
