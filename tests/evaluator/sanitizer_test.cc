#include "evaluator/workers/sanitizer.h"

#include <gtest/gtest.h>

#include <map>

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
                                           "========= ERROR SUMMARY: 3 errors\n");
  EXPECT_EQ(read.result, "error");
  EXPECT_EQ(read.message, "Invalid __global__ write of size 4 bytes");
  EXPECT_EQ(
      ReadSanitizerLog("racecheck",
                       "========= Error: Race reported\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n")
          .result,
      "error");
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
  const std::vector<ToolResult> results = sanitizer.Check({}, {});
  ASSERT_EQ(results.size(), 4u);
  for (const ToolResult& result : results) EXPECT_EQ(result.result, "missing");
}

// Tools that take as long as a test says.
class LongJobTest : public ::testing::Test {
 protected:
  std::vector<ToolResult> Check(std::chrono::milliseconds most) {
    const Sanitizer sanitizer(
        [&](const std::string& tool, const Job& job, const std::stop_token&) -> ToolResult {
          deadlines.push_back(job.deadline);
          if (takes[tool] > job.deadline) {
            now += job.deadline;
            return {tool, "timeout", "the tool did not end in time"};
          }
          now += takes[tool];
          return {tool, tool == wrong ? "error" : "clean", ""};
        },
        [&] { return now; });
    return sanitizer.CheckLong({{}, "timed", most}, {});
  }
  static std::string Summary(const std::vector<ToolResult>& results) {
    std::string text;
    for (const ToolResult& result : results) text += result.tool + " " + result.result + "\n";
    return text;
  }
  std::map<std::string, std::chrono::milliseconds> takes;
  std::string wrong;
  std::chrono::milliseconds now{77};
  std::vector<std::chrono::milliseconds> deadlines;
};

TEST_F(LongJobTest, EveryToolRunsWhereThereIsTime) {
  EXPECT_EQ(Summary(Check(std::chrono::seconds(10))),
            "memcheck at timed clean\nracecheck at timed clean\nsynccheck at timed clean\ninitcheck at timed clean\n");
}

TEST_F(LongJobTest, ToolsShareTheTimeAndSayWhenItIsOver) {
  takes = {{"memcheck", std::chrono::seconds(4)}, {"racecheck", std::chrono::seconds(60)}};
  EXPECT_EQ(Summary(Check(std::chrono::seconds(10))),
            "memcheck at timed clean\nracecheck at timed timeout\nsynccheck at timed timeout\ninitcheck at timed timeout\n");
  EXPECT_EQ(deadlines, (std::vector<std::chrono::milliseconds>{std::chrono::seconds(10), std::chrono::seconds(6)}));
}

TEST_F(LongJobTest, AnErrorEndsIt) {
  wrong = "racecheck";
  EXPECT_EQ(Summary(Check(std::chrono::seconds(10))), "memcheck at timed clean\nracecheck at timed error\n");
}

}  // namespace
}  // namespace evo
