#include "cli/console_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "cli/print.h"
#include "tests/cli/captured_output.h"
#include "tests/cli/pseudo_terminal.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(DetailLine, SaysWhatWorkersDoAndWhatImprovedLast) {
  const std::string workers = "1 run worker busy 92%, 2 compile workers 41%";
  const LatestImprovement improvement{987, "tile_loop", 1.047, 700};
  EXPECT_EQ(DetailLine(workers, improvement, 754, 120), workers + "  last improvement #987 by tile_loop, 4.7% faster, 54 s ago");
  EXPECT_EQ(DetailLine(workers, improvement, 754, 60), workers);
  EXPECT_EQ(DetailLine(workers, {}, 754, 120), workers);
  EXPECT_EQ(DetailLine("", improvement, 825, 120), "last improvement #987 by tile_loop, 4.7% faster, 2:05 ago");
  EXPECT_EQ(DetailLine(workers, improvement, 754, 10), "");
  EXPECT_EQ(DetailLine("", {987, "a\x1b[2Jb", 2, 0}, 1, 120), "last improvement #987 by a\\x1b[2Jb, 100.0% faster, 1 s ago");
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

// On a terminal of so many columns, with two candidates evaluated of which the second is the faster one.
class LiveLinesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (terminal_.stream() == nullptr) GTEST_SKIP() << "the system has no terminal left";
    observer_.emplace(terminal_.stream(), 0, [] { return "1 run worker busy 92%, 2 compile workers 41%"; });
  }

  // Only what is drawn by the second.
  std::string Drawn(unsigned short columns) {
    terminal_.Resize(columns);
    Progress progress = UnderWay();
    progress.best = 986;
    progress.best_ns = 1.2e6;
    Candidate candidate = In(12, 986);
    candidate.op = "tile_loop";
    observer_->OnGeneration(progress);
    terminal_.Text();
    candidate.id = progress.best = 987;
    progress.best_ns = 1.1e6;
    progress.seconds = 40;
    observer_->OnEvaluated(candidate, Measured(1.1e6), progress);
    return terminal_.Text();
  }

  testing::PseudoTerminal terminal_{80};
  std::optional<ConsoleObserver> observer_;
};

TEST_F(LiveLinesTest, ANarrowTerminalHasOneAndItsTimeLeft) {
  const std::string drawn = Drawn(80);
  EXPECT_THAT(drawn, AllOf(StartsWith("\r\x1b[Jgeneration 12/500"), HasSubstr(" left\r"), Not(HasSubstr("run worker"))));
  EXPECT_LE(drawn.size(), 80 + std::string_view("\r\x1b[J\r").size());
}

TEST_F(LiveLinesTest, AWideTerminalHasTwo) {
  EXPECT_THAT(Drawn(160), EndsWith(" left\r\n1 run worker busy 92%, 2 compile workers 41%  last improvement #987 by tile_loop, "
                                   "9.1% faster, 0 s ago\x1b[1A\r"));
  EXPECT_THAT(Drawn(80), Not(HasSubstr("run worker"))) << "made narrower";
}

TEST_F(LiveLinesTest, WhatIsPrintedTakesTheirPlace) {
  Drawn(160);
  Print(terminal_.stream(), "warning: a worker died\n");
  EXPECT_EQ(terminal_.Text(), "\r\x1b[Jwarning: a worker died\r\n");
  Print(terminal_.stream(), "again\n");
  EXPECT_EQ(terminal_.Text(), "again\r\n");
  Drawn(160);
  observer_->OnFinished(RunStatus::kFinished, UnderWay());
  EXPECT_THAT(terminal_.Text(),
              AllOf(StartsWith("\r\x1b[Jgeneration 12/500"), HasSubstr(" left\r\n"), Not(HasSubstr("run worker"))));
}

TEST_F(ConsoleObserverTest, APipeGetsALineForEachGenerationAndNothingElse) {
  ConsoleObserver observer(printed_.stream(), 0, [] { return "1 run worker busy 92%"; });
  observer.OnEvaluated(In(12, 987), Measured(1.1e6), UnderWay());
  EXPECT_EQ(printed_.Text(), "");
  observer.OnGeneration(UnderWay());
  EXPECT_THAT(printed_.Text(), AllOf(StartsWith("generation 12/500"), EndsWith("12:34 left\n"), Not(HasSubstr("run worker"))));
}

}  // namespace
}  // namespace evo
