// What candidates share: evaluations, the deadlines and bounds learnt from earlier ones, and their cancellation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/digest.h"
#include "tests/evaluator/scheduler_fixture.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

TEST_F(SchedulerTest, EqualProgramsAreRunOnce) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p", 10));
  compile_.Answer(Compiled("p", 20));
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Measured(100)));
  const std::vector<Evaluation> evaluations = Finish();
  EXPECT_EQ(evaluations[1].score_ns, 100);
  EXPECT_EQ(evaluations[1].shared_candidate, 1);
  EXPECT_EQ(evaluations[1].source_digest, Digest("two")) << "each keeps its own source";
  EXPECT_EQ(evaluations[1].clocks.compile_ms, 20) << "and its own clocks";
}

TEST_F(SchedulerTest, AWaiterForANoisyProgramIsRunItself) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p"));
  compile_.Answer(Compiled("p"));
  run_.Answer(Evaluated(Outcome::kNoisy));
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Measured(100)));
  const std::vector<Evaluation> evaluations = Finish();
  EXPECT_EQ(evaluations[0].outcome, Outcome::kNoisy);
  EXPECT_EQ(evaluations[1].outcome, Outcome::kOk);
  EXPECT_EQ(evaluations[1].shared_candidate, 0);
}

TEST_F(SchedulerTest, AnotherMeasurementIsMadeForItself) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.Answer(Evaluated(Measured(100)));
  Finish();
  Candidate again = MakeCandidate(2, "one");
  again.measurement = 1;
  StartCompiled(again, "p");
  ASSERT_EQ(run_.pending(), 1u);
  run_.Answer(Evaluated(Measured(90)));
  EXPECT_EQ(Finish().front().score_ns, 90);
}

TEST_F(SchedulerTest, VariantsOfOneProgramShareTheirOwnMeasurementOnly) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one", 0), "p");
  run_.Answer(Evaluated(Measured(100)));
  Finish();
  const auto variant = [](CandidateId id, int measurement, CandidateId champion) {
    Candidate candidate = MakeCandidate(id, "variant");
    candidate.measurement = measurement;
    candidate.parents = {champion};
    return candidate;
  };
  const auto measured = [&](CandidateId id, int measurement, CandidateId champion, double answer) {
    StartCompiled(variant(id, measurement, champion), "p");
    if (run_.pending() > 0) run_.Answer(Evaluated(Measured(answer)));
    return Finish().front();
  };
  EXPECT_EQ(measured(3, 1, 2, 140).score_ns, 140);
  const Evaluation shared = measured(4, 1, 2, 999);
  EXPECT_EQ(shared.score_ns, 140);
  EXPECT_EQ(shared.shared_candidate, 3);
  EXPECT_EQ(measured(5, 2, 2, 130).score_ns, 130) << "once more, next to the champion";
  EXPECT_EQ(measured(6, 1, 4, 120).score_ns, 120) << "of another champion";
}

TEST_F(SchedulerTest, ASourceOfAnEarlierRunIsNotEvenCompiled) {
  Evaluation known = Measured(70);
  known.source_digest = Digest("one");
  known.program_digest = "p";
  MakeScheduler({{{3, 5, known}}, {}});
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "one", 0)});
  EXPECT_EQ(compile_.pending(), 1u) << "generation 0 is measured all the same";
  compile_.Answer(Compiled("p"));
  run_.Answer(Evaluated(Measured(75)));
  const std::vector<Evaluation> evaluations = Finish();
  EXPECT_EQ(evaluations[0].score_ns, 70);
  EXPECT_EQ(evaluations[0].shared_run, 3);
  EXPECT_EQ(evaluations[1].score_ns, 75);
}

TEST_F(SchedulerTest, TheNextCandidateLearnsFromTheLast) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p"));
  run_.Answer(Evaluated(Measured(100)));
  compile_.Answer(Compiled("q"));
  const EvaluateRequest request = RunRequestOfFront();
  EXPECT_DOUBLE_EQ(request.bounds.at("a").prune_ns, 125);
  EXPECT_DOUBLE_EQ(request.bounds.at("a").decided_ns, 103);
  run_.Answer(Evaluated(Outcome::kWrongResult));
  Finish();
}

TEST_F(SchedulerTest, AResumedRunHasTheDeadlinesOfTheRunBefore) {
  GenerationRecord generation;
  generation.candidates = {MakeCandidate(1, "one", 0)};
  Evaluation& baseline = generation.evaluations.emplace_back(Measured(100));
  baseline.clocks.time_ms = 200;
  for (const std::string name : {kDeviceName, "another device"}) {
    baseline.device_name = name;
    const std::vector<GenerationRecord> earlier = {generation};
    MakeScheduler({{}, &earlier});
    StartCompiled(MakeCandidate(2, "two"), "p");
    EXPECT_EQ(run_.front().deadline, milliseconds(name == kDeviceName ? 800 : 9000)) << name;
    run_.Answer(Evaluated(Measured(100)));
    Finish();
  }
}

TEST_F(SchedulerTest, CompilersPauseWhileAKernelIsTimedWhereThePolicySaysSo) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  EXPECT_FALSE(run_.front().on_enter);
  DevicePolicy policy = TestPolicy();
  policy.pauses_compilers = true;
  MakeScheduler({}, policy);
  StartCompiled(MakeCandidate(1, "one"), "p");
  run_.front().on_enter(Stage::kTime);
  EXPECT_EQ(compile_.suspended, 1);
  run_.front().on_leave(Stage::kTime);
  EXPECT_EQ(compile_.suspended, 0);
}

TEST_F(SchedulerTest, AStopRequestCancelsWhatIsNotFinished) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two"), MakeCandidate(3, "three")});
  scheduler_->Start({MakeCandidate(4, "four")});
  compile_.Answer(Compiled("p"));
  run_.Answer(Evaluated(Measured(100)));
  compile_.Answer(Compiled("q"));
  std::stop_source stop;
  stop.request_stop();
  std::vector<CandidateId> reported;
  const auto evaluations = scheduler_->Finish(
      stop.get_token(), [&](const Candidate& candidate, const Evaluation&) { reported.push_back(candidate.id); });
  EXPECT_THAT(reported, ElementsAre(1));
  EXPECT_EQ(evaluations[0].outcome, Outcome::kOk);
  EXPECT_EQ(evaluations[1].outcome, Outcome::kCancelled);
  EXPECT_EQ(evaluations[2].outcome, Outcome::kCancelled);
  EXPECT_EQ(compile_.pending() + run_.pending(), 0u) << "the batch after it was cancelled, too";
  StartCompiled(MakeCandidate(5, "five"), "r");
  run_.Answer(Evaluated(Measured(100)));
  EXPECT_EQ(Finish().front().outcome, Outcome::kOk) << "later batches are evaluated as usual";
}

// The last candidate of a generation ends while all is cancelled, so that its generation is complete and the next one is gone.
TEST_F(SchedulerTest, ABatchThatWasCancelledWithAnEarlierOneIsEmpty) {
  MakeScheduler();
  StartCompiled(MakeCandidate(1, "one"), "p");
  scheduler_->Start({MakeCandidate(2, "two")});
  run_.done_by_then = Evaluated(Measured(100));
  std::stop_source stop;
  stop.request_stop();
  const std::vector<Evaluation> complete = scheduler_->Finish(stop.get_token(), {});
  ASSERT_EQ(complete.size(), 1u);
  EXPECT_EQ(complete.front().outcome, Outcome::kOk);
  EXPECT_TRUE(scheduler_->Finish(stop.get_token(), {}).empty());
  StartCompiled(MakeCandidate(3, "three"), "q");
  run_.Answer(Evaluated(Measured(90)));
  EXPECT_EQ(Finish().size(), 1u) << "the scheduler goes on";
}

TEST_F(SchedulerTest, ItsEndCancelsWhatIsUnderWay) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p"));
  scheduler_.reset();
  EXPECT_EQ(compile_.pending() + run_.pending(), 0u);
}

TEST_F(SchedulerTest, ResultsComeInTheOrderOfTheBatch) {
  MakeScheduler();
  scheduler_->Start({MakeCandidate(1, "one"), MakeCandidate(2, "two")});
  compile_.Answer(Compiled("p"));
  compile_.Answer(CompileFailure(Outcome::kCompileError, "no"));
  run_.Answer(Evaluated(Measured(100)));
  std::vector<CandidateId> reported;
  const auto evaluations =
      scheduler_->Finish({}, [&](const Candidate& candidate, const Evaluation&) { reported.push_back(candidate.id); });
  EXPECT_THAT(reported, ElementsAre(2, 1)) << "as they finished";
  EXPECT_EQ(evaluations[0].outcome, Outcome::kOk);
  EXPECT_EQ(evaluations[1].outcome, Outcome::kCompileError);
}

}  // namespace
}  // namespace evo
