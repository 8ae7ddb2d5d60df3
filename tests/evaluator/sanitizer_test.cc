#include "evaluator/workers/sanitizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace evo {
namespace {

TEST(SanitizerLog, WithoutErrorsIsClean) {
  const ToolResult read = ReadSanitizerLog("memcheck", "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_EQ(read.tool, "memcheck");
  EXPECT_EQ(read.result, "clean");
  EXPECT_EQ(read.message, "");
  EXPECT_EQ(
      ReadSanitizerLog("racecheck",
                       "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n")
          .result,
      "clean");
}

TEST(SanitizerLog, WithErrorsIsTheFirstOfThem) {
  const ToolResult read = ReadSanitizerLog("memcheck",
                                           "========= COMPUTE-SANITIZER\n"
                                           "========= Invalid __global__ write of size 4 bytes\n"
                                           "=========     at k(float *)+0x70\n"
                                           "=========     by thread (0,0,0) in block (0,0,0)\n"
                                           "=========     Saved host backtrace up to driver entry point\n"
                                           "=========         Host Frame: main\n"
                                           "========= ERROR SUMMARY: 3 errors\n");
  EXPECT_EQ(read.result, "error");
  EXPECT_EQ(read.message, "Invalid __global__ write of size 4 bytes at k(float *)+0x70 by thread (0,0,0) in block (0,0,0)");
  EXPECT_EQ(
      ReadSanitizerLog("racecheck",
                       "========= Error: Race reported\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n")
          .result,
      "error");
}

TEST(SanitizerLog, NamesBothAccessesOfARace) {
  EXPECT_EQ(ReadSanitizerLog("racecheck",
                             "========= COMPUTE-SANITIZER\n"
                             "========= Warning: Race reported between Read access at k(float *)+0x3360\n"
                             "=========     and Write access at k(float *)+0x4000 [64 hazards]\n"
                             "========= \n"
                             "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n")
                .message,
            "Warning: Race reported between Read access at k(float *)+0x3360 and Write access at k(float *)+0x4000 [64 hazards]");
}

TEST(SanitizerLog, WithoutASummaryIsUnsupported) {
  EXPECT_EQ(ReadSanitizerLog("initcheck", "").result, "unsupported");
  const ToolResult read =
      ReadSanitizerLog("initcheck", "========= COMPUTE-SANITIZER\n========= Error: Target application returned an error\n");
  EXPECT_EQ(read.result, "unsupported");
  EXPECT_EQ(read.message, "Error: Target application returned an error");
}

TEST(Sanitizer, ThatIsNotInstalledIsMissing) {
  const Sanitizer sanitizer("/nonexistent", {}, {});
  const std::vector<ToolResult> results = sanitizer.Check({}, "", {});
  ASSERT_EQ(results.size(), 4u);
  for (const ToolResult& result : results) EXPECT_EQ(result.result, "missing");
}

std::string Summary(const std::vector<ToolResult>& results) {
  std::string text;
  for (const ToolResult& result : results) text += result.tool + " " + result.result + "\n";
  return text;
}

TEST(Sanitizer, ToolsRunSideBySideAndEachHasTheWholeTime) {
  std::latch all(4);
  std::atomic<int> with_the_whole_time = 0;
  const Sanitizer sanitizer([&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
    with_the_whole_time += job.deadline == std::chrono::seconds(10) ? 1 : 0;
    all.arrive_and_wait();  // never returns if one tool waits for another's end
    return {tool, tool == "racecheck" ? "timeout" : "clean", ""};
  });
  Job job;
  job.deadline = std::chrono::seconds(10);
  EXPECT_EQ(Summary(sanitizer.Check(job, "", {})), "memcheck clean\nracecheck timeout\ninitcheck clean\nsynccheck clean\n");
  EXPECT_EQ(with_the_whole_time, 4);
}

TEST(Sanitizer, ResultsNameTheSize) {
  const Sanitizer sanitizer([](const std::string& tool, const Job&, const std::stop_token&) -> ToolResult {
    return {tool, "clean", ""};
  });
  EXPECT_EQ(Summary(sanitizer.Check({}, "timed", {})),
            "memcheck at timed clean\nracecheck at timed clean\ninitcheck at timed clean\nsynccheck at timed clean\n");
}

TEST(Sanitizer, AnErrorEndsTheOtherTools) {
  const Sanitizer sanitizer([](const std::string& tool, const Job&, const std::stop_token& stop) -> ToolResult {
    if (tool == "racecheck") return {tool, "error", "a race"};
    while (!stop.stop_requested()) std::this_thread::yield();
    return {tool, "unsupported", "stopped"};
  });
  EXPECT_EQ(Summary(sanitizer.Check({}, "timed", {})), "racecheck at timed error\n");
}

}  // namespace
}  // namespace evo
