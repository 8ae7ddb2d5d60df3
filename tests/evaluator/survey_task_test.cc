#include "evaluator/session/survey_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluator/gate/infrastructure_failure.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SurveyTaskTest : public ::testing::Test {
 protected:
  SurveyTaskTest() {
    parts_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
    parts_.baseline = TwiceProgram("baseline");
  }
  TaskSurvey Survey(const std::string& task = kTwiceTask) {
    const SessionContext context = parts_.Context(task);
    parts_.legal->baseline_runs().Start([this](const AnnouncedRun& run) { announced_.push_back(run); }, avoided_);
    return SurveyTask(context, channel_);
  }

  SessionParts parts_{"cpu"};
  RecordingChannel channel_;
  std::vector<AnnouncedRun> announced_;
  std::vector<AvoidedInputs> avoided_;
};

TEST_F(SurveyTaskTest, LooksAtEveryCaseOfTheDeviceOnEveryDistribution) {
  const TaskSurvey survey = Survey();
  std::vector<std::string> names;
  for (const SurveyedCase& one : survey.cases) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("small", "b", "d"));
  for (const SurveyedCase& one : survey.cases) {
    EXPECT_EQ(one.inputs, 2);
    EXPECT_EQ(one.right, 2);
    EXPECT_EQ(one.bytes, 800);
    ASSERT_THAT(one.outputs, SizeIs(1));
    EXPECT_EQ(one.outputs[0].allowed_l2, 1e-6);
    EXPECT_LT(one.outputs[0].baseline_ratio, 1);
    EXPECT_GT(one.outputs[0].block_ratio, 1);
    EXPECT_EQ(one.outputs[0].terms, 0);
  }
  EXPECT_GT(survey.hard_inputs, 0);
  EXPECT_THAT(survey.lax, IsEmpty());
}

TEST_F(SurveyTaskTest, SaysWhatTheBaselineGetsWrong) {
  parts_.device.kernels["baseline"] = [](const auto& buffers) { Multiply<float>(buffers, 2.5); };
  const TaskSurvey survey = Survey();
  ASSERT_THAT(survey.cases.at(0).failures, SizeIs(2));
  EXPECT_EQ(survey.cases[0].failures[0].what, "x: normal");
  EXPECT_THAT(survey.cases[0].failures[0].reason, HasSubstr("relative L2 error 2.50e-01"));
  EXPECT_EQ(survey.cases[0].right, 0);
  EXPECT_EQ(survey.hard_inputs, 0) << "a wrong baseline says nothing of them";
}

TEST_F(SurveyTaskTest, SaysThatABoundLetsZerosOfOneBlockPass) {
  const TaskSurvey survey = Survey(LaxTwiceTask());
  EXPECT_LT(survey.cases.at(0).outputs.at(0).block_ratio, 1);
  EXPECT_THAT(survey.lax, HasSubstr("would pass its checks"));
}

TEST_F(SurveyTaskTest, EstimatesAMissingTermWhereTheTaskStatesSums) {
  std::string task = kTwiceTask;
  const std::string bounds = R"({"l2": 1e-6, "max": 1e-5})";
  task.replace(task.find(bounds), bounds.size(), R"({"sum": "N"})");
  const SurveyedOutput output = Survey(task).cases.at(0).outputs.at(0);
  EXPECT_EQ(output.terms, 100);
  // One of a hundred equal terms; the answer to the absolute values is as large as the answer.
  EXPECT_NEAR(output.term_ratio, 0.01 / output.allowed_l2, 0.2 * output.term_ratio);
}

// The stage tells whose death it is.
TEST_F(SurveyTaskTest, AnnouncesTheReferenceBeforeTheBaseline) {
  parts_.device.run_status = [](const std::string& image) {
    return image == "reference" ? DeviceStatus{Outcome::kCrash, "illegal address", true} : DeviceStatus{};
  };
  EXPECT_THROW(Survey(), InfrastructureFailure);
  EXPECT_EQ(channel_.stages.back(), Stage::kPrepare);
  ASSERT_THAT(announced_, Not(IsEmpty()));
  EXPECT_EQ(announced_.back().on.case_name, "small");
  EXPECT_TRUE(announced_.back().of_baseline);
}

TEST_F(SurveyTaskTest, EndsWithTheCaseOnWhichTheReferenceFails) {
  avoided_ = {{{"small", 0, 0, ""}, "the reference of task twice fails on case small: no answer within 20 s"}};
  const TaskSurvey survey = Survey();
  ASSERT_THAT(survey.cases, SizeIs(1)) << "each may take as long";
  EXPECT_THAT(survey.cases[0].failures, SizeIs(1));
}

TEST_F(SurveyTaskTest, PassesOverACaseOnWhichAWorkerHasDied) {
  avoided_ = {{{"b", 0, 0, ""}, "the baseline crashes: signal 11"}};
  const TaskSurvey survey = Survey();
  EXPECT_EQ(survey.cases.at(0).right, 2);
  ASSERT_THAT(survey.cases.at(1).failures, SizeIs(1)) << "one line for all distributions";
  EXPECT_EQ(survey.cases[1].failures[0].reason, "the baseline crashes: signal 11");
  EXPECT_EQ(survey.cases[1].right, 0);
  EXPECT_EQ(survey.cases.at(2).right, 2);
}

}  // namespace
}  // namespace evo
