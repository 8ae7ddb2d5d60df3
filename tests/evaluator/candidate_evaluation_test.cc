#include "evaluator/session/candidate_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CandidateEvaluationTest : public ::testing::Test {
 protected:
  std::optional<Failure> Run(SessionParts& parts, const EvaluateRequest& request = {TwiceProgram("candidate"), {}, {}, {}, {}},
                             const std::string& task = kTwiceTask) {
    const SessionContext context = parts.Context(task);
    context.inputs.Place();
    evaluation_ = {};
    evaluation_.source_digest = "0123456789abcdef0123456789abcdef";
    return CandidateEvaluation(context, request, channel_).Run(evaluation_, std::chrono::minutes(5));
  }

  SessionParts gpu_{"cuda"};
  SessionParts emulator_{"cpu"};
  RecordingChannel channel_;
  Evaluation evaluation_;
};

TEST_F(CandidateEvaluationTest, ChecksThenTimesThenChecksTheOtherInputs) {
  EXPECT_FALSE(Run(gpu_));
  EXPECT_THAT(channel_.stages, ElementsAre(Stage::kLoad, Stage::kCheck, Stage::kTime, Stage::kCheck));
  EXPECT_THAT(channel_.waited, ElementsAre(false, false, false, false));
  EXPECT_EQ(evaluation_.stage, Stage::kTime);
  ASSERT_EQ(evaluation_.cases.size(), 1U);
  EXPECT_EQ(evaluation_.cases[0].name, "a");
  EXPECT_EQ(evaluation_.reverification_runs, 0) << "jobs wait";
}

TEST_F(CandidateEvaluationTest, WaitsForTheCompilersBeforeTimingWhereTheyShareTheProcessor) {
  EXPECT_FALSE(Run(emulator_));
  EXPECT_THAT(channel_.waited, ElementsAre(false, false, true, false));
  EXPECT_EQ(evaluation_.cases[0].name, "b");
}

TEST_F(CandidateEvaluationTest, AWrongKernelIsNeverTimed) {
  gpu_.device.kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 3); };
  const auto failure = Run(gpu_);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(failure->message, HasSubstr("case small: "));
  EXPECT_EQ(evaluation_.stage, Stage::kCheck);
  EXPECT_EQ(evaluation_.counterexample.case_name, "small");
  EXPECT_EQ(evaluation_.counterexample.seed, 11U);
  EXPECT_TRUE(gpu_.device.timed.empty());
}

TEST_F(CandidateEvaluationTest, InputsThatFailedMostCandidatesComeFirst) {
  gpu_.device.kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 3); };
  EvaluateRequest request{TwiceProgram("candidate"), {}, {}, {}, {{"a", 1, 0, ""}}};
  ASSERT_TRUE(Run(gpu_, request));
  EXPECT_EQ(evaluation_.counterexample.case_name, "a");
  EXPECT_EQ(evaluation_.counterexample.generator, 1);
  request.first = {{"small", 1, 0, ""}};
  ASSERT_TRUE(Run(gpu_, request));
  EXPECT_EQ(evaluation_.counterexample.case_name, "small");
  EXPECT_EQ(evaluation_.counterexample.generator, 1);
  request.first = {{"of another task", 7, 0, ""}};
  ASSERT_TRUE(Run(gpu_, request));
  EXPECT_EQ(evaluation_.counterexample.generator, 0);
}

TEST_F(CandidateEvaluationTest, APrunedCandidateSkipsTheOtherInputs) {
  int launches = 0;
  gpu_.device.kernels["candidate"] = [&](const auto& buffers) {
    ++launches;
    Multiply<float>(buffers, 2);
  };
  std::size_t timed = 0;
  const auto checks = [&](const EvaluateRequest& request) {
    launches = 0;
    timed = gpu_.device.timed.size();
    EXPECT_FALSE(Run(gpu_, request));
    return launches - static_cast<int>(gpu_.device.timed.size() - timed);
  };
  const int all = checks({TwiceProgram("candidate"), {}, {}, {}, {}});
  const int pruned = checks({TwiceProgram("candidate"), {}, {}, {{"a", {1'000, 1'100}}}, {}});
  EXPECT_EQ(all - pruned, 1) << "the one generator that is not timed";
  EXPECT_TRUE(evaluation_.cases[0].pruned);
}

// Its relatives have the same mistake, and it would be the champion's check that finds it, after the search.
TEST_F(CandidateEvaluationTest, ACandidateThatIsFasterThanAllIsCheckedOnTheWholeBattery) {
  gpu_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  gpu_.baseline = TwiceProgram("baseline");
  // Right for all but huge values, which the part of the battery that every candidate sees has not.
  gpu_.device.kernels["candidate"] = [](const auto& buffers) {
    const auto* from = reinterpret_cast<const float*>(buffers[0]);
    auto* to = reinterpret_cast<float*>(buffers[1]);
    for (int i = 0; i < kTwiceElements; ++i) to[i] = 2 * std::fmin(from[i], 1e13F);
  };
  const auto run = [&](double best_ns) {
    return Run(gpu_, {TwiceProgram("candidate"), {}, {}, {{"a", {1e9, 1e9, best_ns}}}, {}}, FixedTwiceTask());
  };
  EXPECT_FALSE(run(1));
  const auto failure = run(1e9);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_THAT(evaluation_.counterexample.inputs, HasSubstr("x: "));
  EXPECT_TRUE(evaluation_.cases.empty()) << "no other candidate is compared with its times";
}

TEST_F(CandidateEvaluationTest, TheImageWithCheckedAccessesRunsToo) {
  emulator_.device.kernels["checked"] = [](const auto& buffers) { Multiply<float>(buffers, 3); };
  EvaluateRequest request{TwiceProgram("candidate"), TwiceProgram("checked"), {}, {}, {}};
  const auto failure = Run(emulator_, request);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kWrongResult);
  EXPECT_TRUE(emulator_.device.timed.empty());
}

}  // namespace
}  // namespace evo
