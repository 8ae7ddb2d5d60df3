// The way of one candidate through compile and run workers, with runners that the test answers: no processes, no waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/evaluator/scheduler_fixture.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using Kind = WorkerDeath::Kind;

TEST_F(SchedulerTest, ACandidateIsCompiledThenRun) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "source one")});
  ASSERT_EQ(compile_.pending(), 1u);
  EXPECT_EQ(run_.pending(), 0u);
  compile_.Answer(Compiled("p", 12));
  ASSERT_EQ(run_.pending(), 1u);
  EXPECT_EQ(RunRequestOfFront().candidate.program.image, "image of p");
  JobResult measured = Evaluated(Measured(100));
  measured.stage_ms = {{Stage::kLoad, 1}, {Stage::kCheck, 2}, {Stage::kTime, 3}, {Stage::kReverify, 4}};
  measured.queue_ms = 5;
  run_.Answer(std::move(measured));
  const Evaluation evaluation = Finish().front();
  EXPECT_EQ(evaluation.outcome, Outcome::kOk);
  EXPECT_EQ(evaluation.score_ns, 100);
  EXPECT_EQ(evaluation.log, "ptxas info") << "from the compile worker";
  EXPECT_EQ(evaluation.program_digest, "p");
  EXPECT_EQ(evaluation.clocks.compile_ms, 12);
  EXPECT_EQ(evaluation.clocks.load_ms, 1);
  EXPECT_EQ(evaluation.clocks.reverification_ms, 4);
  EXPECT_EQ(evaluation.clocks.queue_ms, 5);
}

// Of many that wait for the device, the later ones know how fast the first were.
TEST_F(SchedulerTest, WhatWasLearntWhileACandidateWaitedCounts) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p"));
  compile_.Answer(Compiled("q"));
  EXPECT_TRUE(RunRequestOfFront().bounds.empty());
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(RunRequestOfFront().bounds.at("a").best_ns, 100);
  run_.Answer(Evaluated(Measured(100)));
  Finish();
}

TEST_F(SchedulerTest, ACandidateOfANewStructureIsUrgent) {
  MakeScheduler();
  Candidate tiled = MakeCandidate(1, "one");
  tiled.op = "tile_contraction";
  tiled.genome.edits.emplace_back().op = tiled.op;
  tiled.genome.edits.back().brings.push_back({"TILE_M", {32, 64}, 32});
  Candidate tuned = tiled;
  tuned.op = "parameter_step";
  for (const Candidate& candidate : {tiled, tuned, MakeCandidate(1, "one")}) {
    const bool urgent = candidate.op == "tile_contraction";
    scheduler_->Start({candidate});
    EXPECT_EQ(compile_.front().urgent, urgent);
    compile_.Answer(Compiled("p"));
    if (run_.pending() == 0) {  // the others are the same program
      EXPECT_FALSE(urgent);
      continue;
    }
    EXPECT_EQ(run_.front().urgent, urgent);
    run_.Answer(Evaluated(Measured(100)));
  }
  for (int i = 0; i < 3; ++i) Finish();
}

// The coordinator does not parse what was evolved: whatever the text is, it reaches the compile worker as it is. A prediction
// made here from these directives would refuse the first two without any worker.
TEST_F(SchedulerTest, AHostileSourceGoesToTheWorkerUntouched) {
  MakeScheduler();
  for (const std::string source :
       {"// evo:launch k(X) grid(1) block(99999)\n", "// evo:launch k(X) grid(0) block(32) shared(1 << 40)\n",
        "// evo:launch ((((((((", "\xff\xfe not text \x01"}) {
    scheduler_->Start({MakeCandidate(1, source)});
    ASSERT_EQ(compile_.pending(), 1u) << source;
    const auto request = std::get<CompileRequest>(ToCompileWorkerRequest(compile_.front().request));
    EXPECT_EQ(request.source, source);
    EXPECT_TRUE(request.check);
    EXPECT_EQ(request.arch, "sm_90a");
    compile_.Answer(CompileFailure(Outcome::kResourceLimit, "too many threads (not compiled)"));
    EXPECT_EQ(run_.pending(), 0u);
    const Evaluation evaluation = Finish().front();
    EXPECT_EQ(evaluation.outcome, Outcome::kResourceLimit);
    EXPECT_EQ(evaluation.stage, Stage::kCompile);
    EXPECT_EQ(evaluation.message, "too many threads (not compiled)");
  }
}

TEST_F(SchedulerTest, ACompilerThatDiesCostsItsCandidateOnly) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two"), MakeCandidate(3, "three")});
  compile_.Answer(FakeJobRunner::Death(Kind::kDeadline, "deadline passed", Stage::kCompile));
  compile_.Answer(FakeJobRunner::Reply({}));
  compile_.Answer(Compiled("p"));
  run_.Answer(Evaluated(Measured(100)));
  const std::vector<Evaluation> evaluations = Finish();
  EXPECT_EQ(evaluations[0].outcome, Outcome::kTimeout);
  EXPECT_EQ(evaluations[0].message, "the compiler: deadline passed");
  EXPECT_EQ(evaluations[1].outcome, Outcome::kCrash);
  EXPECT_THAT(evaluations[1].message, HasSubstr("malformed reply"));
  EXPECT_EQ(evaluations[2].outcome, Outcome::kOk);
}

TEST_F(SchedulerTest, ADiskWithoutRoomForTheCompilerChargesNoCandidate) {
  CompileResult full;
  full.outcome = Outcome::kCancelled;
  full.machine_failed = true;
  full.message = "/scratch: no space is left there";
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(FakeJobRunner::Reply(ToMessage(full)));
  compile_.Answer(Compiled("two's"));
  ASSERT_EQ(compile_.pending(), 1u) << "it is tried again";
  compile_.Answer(FakeJobRunner::Reply(ToMessage(full)));
  try {
    Finish();
    FAIL() << "the run must end";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/scratch: no space is left there");
  }
}

TEST_F(SchedulerTest, ADeathInAStageOfTheCandidateIsItsResult) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(FakeJobRunner::Death(Kind::kSignalled, "killed by signal 11", Stage::kCheck));
  const Evaluation evaluation = Finish().front();
  EXPECT_EQ(evaluation.outcome, Outcome::kCrash);
  EXPECT_EQ(evaluation.stage, Stage::kCheck);
  EXPECT_EQ(evaluation.message, "killed by signal 11");
}

JobResult BaselineDeath(const std::string& inputs, Stage stage) {
  JobResult result = FakeJobRunner::Death(Kind::kSignalled, "killed by signal 11", stage);
  result.run = {{"small", 0, 1, inputs}, true};
  return result;
}

TEST_F(SchedulerTest, InputsOnWhichTheBaselineDiesBeforeACandidateIsThereAreSparedAll) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "source one"), "p");
  for (const std::string inputs : {"x: one_hot", "x: cauchy(1)", "x: normal"})
    run_.Answer(BaselineDeath(inputs, Stage::kPrepare));
  ASSERT_EQ(run_.pending(), 1U);
  ASSERT_EQ(RunRequestOfFront().avoided.size(), 3U);
  EXPECT_EQ(RunRequestOfFront().avoided[1].on.inputs, "x: cauchy(1)");
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk);
  StartCompiled(MakeCandidate(2, "source two"), "q");
  EXPECT_EQ(RunRequestOfFront().avoided.size(), 3U);
  run_.Answer(Evaluated(Measured(100)));
  Finish();
}

// It may have damaged the process, so others are not spared these inputs, and it cannot end one worker after another.
TEST_F(SchedulerTest, ACandidateInWhoseProcessTheBaselineDiesAgainAndAgainIsCharged) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "source one"), "p");
  run_.Answer(BaselineDeath("x: one_hot", Stage::kReverify));
  EXPECT_EQ(RunRequestOfFront().avoided.size(), 1U);
  run_.Answer(BaselineDeath("x: normal", Stage::kReverify));
  run_.Answer(BaselineDeath("x: cauchy(1)", Stage::kReverify));
  EXPECT_EQ(Finish().front().outcome, Outcome::kCrash);
  StartCompiled(MakeCandidate(2, "source two"), "q");
  EXPECT_TRUE(RunRequestOfFront().avoided.empty());
  run_.Answer(Evaluated(Measured(100)));
  Finish();
}

TEST_F(SchedulerTest, ABaselineThatDiesEverywhereEndsTheRun) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "source one"), "p");
  int deaths = 0;
  for (; run_.pending() > 0 && deaths < 100; ++deaths) run_.Answer(BaselineDeath(std::to_string(deaths), Stage::kPrepare));
  EXPECT_LT(deaths, 100);
  EXPECT_THROW(Finish(), Error);
}

TEST_F(SchedulerTest, AMachineThatFailsOnceIsTriedAgain) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(FakeJobRunner::Death(Kind::kExited, "exited with status 1", Stage::kPrepare));
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk);
}

TEST_F(SchedulerTest, AMachineThatFailsTwiceEndsTheRun) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(MachineFailure());
  run_.Answer(MachineFailure());
  try {
    Finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the reference failed");
  }
}

// Before a stage of the candidate begins, nobody is to blame, and the machine may be in order.
TEST_F(SchedulerTest, AWorkerThatIsKilledFromOutsideWhileItPreparesIsTriedAgain) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  JobResult killed = FakeJobRunner::Death(Kind::kSignalled, "killed by signal 9", Stage::kPrepare);
  killed.death->from_outside = true;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run_.pending(), 1u) << i;
    run_.Answer(killed);
  }
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk);
}

TEST_F(SchedulerTest, WorkersThatCannotBeStartedEndTheRun) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(FakeJobRunner::Death(Kind::kCannotStart, "run worker cannot be started: no device"));
  EXPECT_EQ(run_.pending(), 0u) << "another attempt would fare the same";
  EXPECT_THROW(Finish(), Error);
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(FakeJobRunner::Death(Kind::kCannotStart, "compile worker cannot be started: no tool chain"));
  EXPECT_THROW(Finish(), Error);
  EXPECT_EQ(compile_.pending(), 0u) << "the others were cancelled";
}

TEST_F(SchedulerTest, CheatingIsBelievedWhenItShowsAgain) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(Evaluated(Outcome::kCheating));
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Outcome::kCheating));
  EXPECT_EQ(Finish().front().outcome, Outcome::kCheating);
  StartCompiled(MakeCandidate(2, "two"), "q");
  run_.Answer(Evaluated(Outcome::kCheating));
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk);
}

TEST_F(SchedulerTest, AfterAFailureOfTheMachineCheatingIsStillNotBelievedAtFirstSight) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(MachineFailure());
  run_.Answer(Evaluated(Outcome::kCheating));
  ASSERT_EQ(run_.pending(), 1u) << "a retry for one cause does not use up the other's";
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk);
}

TEST_F(SchedulerTest, AfterCheatingTheMachineMayStillFailOnce) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(Evaluated(Outcome::kCheating));
  run_.Answer(MachineFailure());
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Outcome::kCheating));
  EXPECT_EQ(Finish().front().outcome, Outcome::kCheating);
}

}  // namespace
}  // namespace evo
