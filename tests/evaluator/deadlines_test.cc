#include "evaluator/scheduling/deadlines.h"

#include <gtest/gtest.h>

#include "evaluator/device/cuda/cuda_policy.h"

namespace evo {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRunDeadline{10'000};

DevicePolicy PolicyOf(bool pauses_compilers = false) {
  DevicePolicy policy = kCudaPolicy;
  policy.pauses_compilers = pauses_compilers;
  policy.candidate_deadline = {4, milliseconds(400)};
  return policy;
}

void Learn(Deadlines& deadlines, int generation, StageClocks clocks, Outcome outcome = Outcome::kOk) {
  Candidate candidate;
  candidate.generation = generation;
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.clocks = clocks;
  deadlines.Learn(candidate, evaluation);
}

TEST(Deadlines, AreTheLongestUntilTheBaselineIsKnown) {
  const Deadlines deadlines(PolicyOf(), kRunDeadline);
  EXPECT_EQ(deadlines.Compile(), kCompileDeadline);
  EXPECT_EQ(deadlines.Run(1), kRunDeadline);
  EXPECT_EQ(deadlines.Champion(), kRunDeadline);
}

TEST(Deadlines, FollowTheSlowestTemplate) {
  Deadlines deadlines(PolicyOf(), kRunDeadline);
  Learn(deadlines, 0, {.compile_ms = 500, .load_ms = 10, .check_ms = 300, .time_ms = 200});
  Learn(deadlines, 0, {.compile_ms = 400, .load_ms = 10, .check_ms = 20, .time_ms = 150});
  EXPECT_EQ(deadlines.Compile(), milliseconds(6 * 500));
  EXPECT_EQ(deadlines.Run(1), milliseconds(4 * 300));
  EXPECT_EQ(deadlines.Champion(), milliseconds(10'000));
  EXPECT_EQ(deadlines.Run(0), kRunDeadline) << "other templates may take longer";
}

TEST(Deadlines, StayWithinTheirBounds) {
  Deadlines quick(PolicyOf(), kRunDeadline);
  Learn(quick, 0, {.compile_ms = 1, .check_ms = 1});
  EXPECT_EQ(quick.Compile(), milliseconds(1200));
  EXPECT_EQ(quick.Run(1), milliseconds(400));
  EXPECT_EQ(quick.Champion(), milliseconds(10'000));
  Deadlines slow(PolicyOf(), kRunDeadline);
  Learn(slow, 0, {.compile_ms = 30'000, .check_ms = 9'000});
  EXPECT_EQ(slow.Compile(), kCompileDeadline);
  EXPECT_EQ(slow.Run(1), kRunDeadline);
  EXPECT_EQ(slow.Champion(), kRunDeadline);
}

TEST(Deadlines, LearnOnlyFromTemplatesThatPassed) {
  Deadlines deadlines(PolicyOf(), kRunDeadline);
  Learn(deadlines, 1, {.compile_ms = 500, .check_ms = 300});
  Learn(deadlines, 0, {.compile_ms = 500, .check_ms = 300}, Outcome::kWrongResult);
  EXPECT_EQ(deadlines.Compile(), kCompileDeadline);
  EXPECT_EQ(deadlines.Run(1), kRunDeadline);
}

TEST(Deadlines, SayWhereTheyComeFrom) {
  Deadlines deadlines(PolicyOf(), kRunDeadline);
  EXPECT_EQ(deadlines.CompileRule(), "the most that a compiler gets");
  EXPECT_EQ(deadlines.RunRule(1), "the most that a stage may take; give the task smaller sizes");
  Learn(deadlines, 0, {.compile_ms = 500, .check_ms = 300});
  EXPECT_EQ(deadlines.CompileRule(), "6 times what the slowest template took, 1.2 s at least");
  EXPECT_EQ(deadlines.RunRule(0), "the most that a stage may take; give the task smaller sizes");
  EXPECT_EQ(deadlines.RunRule(1), "4 times what the slowest template took, 0.4 s at least");
  EXPECT_EQ(Deadlines::ChampionRule(), "20 times what the slowest template took, 10 s at least");
}

TEST(Deadlines, OfCompilersThatPauseAreNotLearnt) {
  Deadlines deadlines(PolicyOf(true), kRunDeadline);
  Learn(deadlines, 0, {.compile_ms = 500, .check_ms = 300});
  EXPECT_EQ(deadlines.Compile(), kCompileDeadline);
  EXPECT_EQ(deadlines.Run(1), milliseconds(1200));
}

}  // namespace
}  // namespace evo
