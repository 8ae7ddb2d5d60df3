#include "evaluator/scheduling/task_surveyor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = WorkerDeath::Kind;

// Each worker gives the next answer; keeps what was asked.
class Workers : public FreshWorkers {
 public:
  explicit Workers(std::vector<JobResult> answers) : answers_(std::move(answers)) {}
  std::unique_ptr<JobRunner> StartRunner(const Seeds&) override {
    class Runner : public ScriptedJobRunner {
     public:
      Runner(JobResult answer, std::vector<SurveyRequest>& asked) : ScriptedJobRunner({std::move(answer)}), asked_(asked) {}
      void Submit(Job job, Done done) override {
        asked_.push_back(FromMessage<SurveyRequest>(job.request));
        ScriptedJobRunner::Submit(std::move(job), std::move(done));
      }

     private:
      std::vector<SurveyRequest>& asked_;
    };
    return std::make_unique<Runner>(answers_[std::min(asked.size(), answers_.size() - 1)], asked);
  }

  std::vector<SurveyRequest> asked;

 private:
  std::vector<JobResult> answers_;
};

JobResult Surveyed() {
  TaskSurvey survey;
  survey.hard_inputs = 7;
  survey.cases = {{"small", 800, 1, kNoValue, 2, 2, {}, {}}};
  return FakeJobRunner::Reply(ToReply(survey));
}

JobResult Died(Kind kind, Stage stage) {
  JobResult result = FakeJobRunner::Death(kind, "signal 11", stage);
  result.run = {{"small", 1, 5, ""}, true, 0, false};
  return result;
}

TEST(TaskSurveyor, ReturnsWhatTheWorkerFound) {
  Workers workers({Surveyed()});
  const TaskSurvey survey = SurveyInFreshWorkers(workers, {});
  EXPECT_EQ(survey.hard_inputs, 7);
  EXPECT_EQ(survey.cases.at(0).name, "small");
  EXPECT_TRUE(std::isnan(survey.cases[0].baseline_ms));
}

TEST(TaskSurveyor, RepeatsWithoutTheCaseOnWhichAWorkerDied) {
  Workers workers({Died(Kind::kSignalled, Stage::kHeldOut), Died(Kind::kDeadline, Stage::kPrepare), Surveyed()});
  EXPECT_EQ(SurveyInFreshWorkers(workers, {}).hard_inputs, 7);
  ASSERT_THAT(workers.asked, SizeIs(3));
  ASSERT_THAT(workers.asked[2].avoided, SizeIs(2));
  EXPECT_THAT(workers.asked[2].avoided[0].reason, HasSubstr("the baseline crashes"));
  EXPECT_THAT(workers.asked[2].avoided[1].reason, HasSubstr("the reference takes too long"));
}

TEST(TaskSurveyor, GivesUpAtSomeTime) {
  Workers workers({Died(Kind::kSignalled, Stage::kHeldOut)});
  EXPECT_THROW(SurveyInFreshWorkers(workers, {}), Error);
}

TEST(TaskSurveyor, ThrowsWhatIsTheMachinesFault) {
  Workers workers({FakeJobRunner::Death(Kind::kCannotStart, "no worker")});
  EXPECT_THROW(SurveyInFreshWorkers(workers, {}), Error);
}

}  // namespace
}  // namespace evo
