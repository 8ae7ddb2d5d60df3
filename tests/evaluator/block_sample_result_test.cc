// What becomes of the job that samples blocks: evaluator/scheduling/emulated_blocks.h.
#include <gtest/gtest.h>

#include "evaluator/scheduling/emulated_blocks.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {
namespace {

using Kind = WorkerDeath::Kind;

TEST(EmulatedBlocksResult, OnlyADeathOfItsOwnIsTheKernelsError) {
  const auto of_death = [](Kind kind, bool from_outside) {
    JobResult result = FakeJobRunner::Death(kind, "killed by signal 9", Stage::kCheck);
    result.death->from_outside = from_outside;
    return ReadBlockSample(result).result;
  };
  EXPECT_EQ(of_death(Kind::kSignalled, false), "crash");
  EXPECT_EQ(of_death(Kind::kSignalled, true), "missing") << "memory may have run out";
  EXPECT_EQ(of_death(Kind::kDeadline, false), "timeout");
  EXPECT_EQ(of_death(Kind::kCannotStart, false), "missing");
  JobResult placed = FakeJobRunner::Death(Kind::kSignalled, "killed by signal 11", Stage::kCheck);
  placed.run.on.case_name = "r4096_c2048";
  EXPECT_EQ(ReadBlockSample(placed).message, "case r4096_c2048: killed by signal 11");
  EXPECT_EQ(ReadBlockSample(FakeJobRunner::Reply({})).result, "crash") << "a malformed reply does not end the run";
  EXPECT_EQ(ReadBlockSample(FakeJobRunner::Reply(ToReply(InfrastructureReport{"no"}))).result, "missing");
  EXPECT_EQ(ReadBlockSample(FakeJobRunner::Reply(ToReply(ToolResult{"sampled blocks", "clean", ""}))).result, "clean");
}

}  // namespace
}  // namespace evo
