#include "evaluator/workers/sanitizer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "evaluator/messages/message_codec.h"
#include "tests/evaluator/tool_results.h"

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

JobResult Replied(Message reply) {
  JobResult job;
  job.reply = std::move(reply);
  return job;
}

// As where several processes do not fit into the device's memory together.
TEST(Sanitizer, AProgramThatDidNotRunIsNotClean) {
  const ToolResult result =
      WithAnswer({"racecheck", "clean", ""}, Replied(ToReply(InfrastructureReport{"8 bytes for x do not fit into the memory"})));
  EXPECT_EQ(result.tool, "racecheck");
  EXPECT_EQ(result.result, "unsupported");
  EXPECT_EQ(result.message, "the kernel did not run under the tool: 8 bytes for x do not fit into the memory");
}

TEST(Sanitizer, AWorkerThatDiedBeforeItsAnswerIsNotClean) {
  for (const WorkerDeath::Kind kind :
       {WorkerDeath::Kind::kExited, WorkerDeath::Kind::kSignalled, WorkerDeath::Kind::kCannotStart}) {
    JobResult job;
    job.death = WorkerDeath{kind, "killed by signal 11"};
    const ToolResult result = WithAnswer({"racecheck", "clean", ""}, job);
    EXPECT_EQ(result.tool, "racecheck");
    EXPECT_EQ(result.result, "unsupported");
    EXPECT_EQ(result.message, "killed by signal 11");
  }
}

TEST(Sanitizer, AWrongAnswerUnderAToolIsNoted) {
  EXPECT_EQ(WithAnswer({"memcheck", "clean", ""}, Replied(ToReply(SmallCaseResult{""}))).message, "");
  const ToolResult wrong = WithAnswer({"memcheck", "clean", ""}, Replied(ToReply(SmallCaseResult{"case small: y: 3 for 2"})));
  EXPECT_EQ(wrong.result, "clean");
  EXPECT_EQ(wrong.message, "wrong under the tool: case small: y: 3 for 2");
  EXPECT_EQ(WithAnswer({"memcheck", "clean", ""}, Replied({})).result, "clean");
}

TEST(Sanitizer, ThatIsNotInstalledIsMissing) {
  const Sanitizer sanitizer("/nonexistent", {}, {});
  const std::vector<ToolResult> results = Results(sanitizer.Check({{}}, 0, {}));
  ASSERT_EQ(results.size(), 4u);
  for (const ToolResult& result : results) EXPECT_EQ(result.result, "missing");
}

}  // namespace
}  // namespace evo
