#include "cli/console_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/captured_output.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Progress UnderWay() {
  Progress progress;
  progress.generation = 12;
  progress.generations = 500;
  progress.evaluated = 1234;
  progress.valid = 1000;
  progress.baseline_ns = 1.43e6;
  progress.best = 987;
  progress.best_ns = 1.1e6;
  progress.best_template = "a_template_with_a_long_name";
  progress.candidates_per_second = 3.1;
  progress.seconds_left = 754;
  return progress;
}

TEST(ProgressLine, KeepsTheTimeLeftWhereThereIsLittleRoom) {
  for (const std::size_t width : {200, 100, 79, 59}) {
    const std::string line = ProgressLine(UnderWay(), width);
    EXPECT_LE(line.size(), width);
    EXPECT_THAT(line, AllOf(HasSubstr("generation 12/500"), HasSubstr("best 1.1 ms (1.30x)"), HasSubstr("12:34 left")));
  }
  EXPECT_THAT(ProgressLine(UnderWay(), 200), AllOf(HasSubstr("a_template_with_a_long_name #987"), HasSubstr("3.1/s")));
}

Candidate In(int generation, CandidateId id) {
  Candidate candidate;
  candidate.id = id;
  candidate.generation = generation;
  candidate.genome.template_name = "warp";
  return candidate;
}

Evaluation Measured(double ns) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.score_ns = ns;
  return evaluation;
}

class ConsoleObserverTest : public ::testing::Test {
 protected:
  testing::CapturedOutput printed_;
  ConsoleObserver observer_{printed_.stream(), 0};
};

TEST_F(ConsoleObserverTest, SaysOfATemplateThatFailsAtItsDefaultsWhy) {
  Evaluation failed;
  failed.outcome = Outcome::kWrongResult;
  failed.stage = Stage::kCheck;
  failed.message = "case small: Y is wrong";
  observer_.OnEvaluated(In(0, 2), failed, Progress());
  EXPECT_EQ(printed_.Text(), "template warp fails at its defaults: wrong_result: check: case small: Y is wrong\n");
  Progress later;
  later.generation = 1;
  observer_.OnEvaluated(In(1, 3), failed, later);
  EXPECT_THAT(printed_.Text(), Not(HasSubstr("fails at its defaults: wrong_result: check: case small: Y is wrong\ntemplate")))
      << "children fail all the time";
}

TEST_F(ConsoleObserverTest, TheBestThatIsShownNeverGetsWorse) {
  Progress progress = UnderWay();
  progress.best_ns = 1.0e6;
  observer_.OnEvaluated(In(12, 987), Measured(1.0e6), progress);
  progress.best = 5;  // the champion, which is faster by no more than the noise
  progress.best_ns = 1.02e6;
  observer_.OnGeneration(progress);
  EXPECT_THAT(printed_.Text(), HasSubstr("best 1 ms"));
}

TEST_F(ConsoleObserverTest, SaysWhatOfAGenerationIsNotKept) {
  Progress progress = UnderWay();
  observer_.OnEvaluated(In(12, 987), Measured(1.1e6), progress);
  observer_.OnEvaluated(In(12, 988), Measured(1.2e6), progress);
  progress.generation = 11;
  progress.ended_by = "time limit";
  observer_.OnFinished(RunStatus::kFinished, progress);
  EXPECT_THAT(printed_.Text(),
              HasSubstr("generation 12 was not finished: its 2 evaluations are not kept, the fastest of them 1.1 "
                        "ms (#987)"));
  EXPECT_THAT(printed_.Text(), AllOf(HasSubstr("time limit reached after"), Not(HasSubstr("finished after"))));
}

TEST_F(ConsoleObserverTest, SaysNothingOfTheKindAfterAWholeGeneration) {
  Progress progress = UnderWay();
  observer_.OnEvaluated(In(12, 987), Measured(1.1e6), progress);
  observer_.OnGeneration(progress);
  observer_.OnFinished(RunStatus::kFinished, progress);
  EXPECT_THAT(printed_.Text(), AllOf(Not(HasSubstr("not kept")), HasSubstr("finished after 1234")));
}

TEST_F(ConsoleObserverTest, SaysThatTimesOfTheEmulationDoNotCarryOver) {
  RunRecord run;
  run.device = "cpu";
  observer_.OnStarted(run, false);
  EXPECT_THAT(printed_.Text(), HasSubstr("does not carry over to a GPU"));
  run.device = "cuda";
  testing::CapturedOutput other;
  ConsoleObserver(other.stream(), 0).OnStarted(run, false);
  EXPECT_THAT(other.Text(), Not(HasSubstr("carry over")));
}

}  // namespace
}  // namespace evo
