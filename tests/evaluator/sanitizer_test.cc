#include "evaluator/workers/sanitizer.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace evo
