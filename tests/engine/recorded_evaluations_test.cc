#include "engine/recorded_evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/replay_evaluator.h"
#include "engine/reproduction.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using ::testing::SizeIs;

TEST(RecordedEvaluations, FindEachMeasurementOfASource) {
  RecordedEvaluations recorded;
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.source_digest = "s";
  for (const double ns : {1'000.0, 1'010.0, 1'020.0}) {
    evaluation.score_ns = ns;
    evaluation.shared_candidate = 0;
    if (ns > 1'000)
      recorded.AddTrial(evaluation);
    else
      recorded.Add(evaluation);
    evaluation.shared_candidate = 1;  // a copy of the first, not a measurement
    evaluation.score_ns = 1'000;
    recorded.Add(evaluation);
  }
  EXPECT_EQ(recorded.Find("s")->score_ns, 1'000);
  EXPECT_EQ(recorded.Find("s", 1)->score_ns, 1'010);
  EXPECT_EQ(recorded.Find("s", 2)->score_ns, 1'020);
  EXPECT_EQ(recorded.Find("s", 3)->score_ns, 1'020) << "the last, because there are no more";
  EXPECT_EQ(recorded.Find("t", 1), nullptr);
  evaluation.source_digest = "t";
  recorded.AddTrial(evaluation);
  ASSERT_NE(recorded.Find("t"), nullptr);
  EXPECT_EQ(recorded.Find("t", 1)->score_ns, 1'000) << "a trial is the first evaluation of its source";
  EXPECT_EQ(recorded.Find("t", 1)->shared_candidate, 0);
}

TEST(RecordedEvaluations, KeepTheFirstThatIsNotNoisy) {
  RecordedEvaluations recorded;
  Evaluation evaluation = testing::EvaluationAt(3);
  evaluation.outcome = Outcome::kCancelled;
  recorded.Add(evaluation);
  EXPECT_EQ(recorded.size(), 0U);
  evaluation.outcome = Outcome::kNoisy;
  recorded.Add(evaluation);
  evaluation = testing::EvaluationAt(3);
  evaluation.shared_run = 4;
  evaluation.shared_candidate = 5;
  recorded.Add(evaluation);
  evaluation.score_ns = 1;
  recorded.Add(evaluation);
  ASSERT_NE(recorded.Find(evaluation.source_digest), nullptr);
  EXPECT_EQ(recorded.Find(evaluation.source_digest)->score_ns, testing::EvaluationAt(3).score_ns);
  EXPECT_EQ(recorded.Find(evaluation.source_digest)->shared_candidate, 0) << "the candidate is in another database";
  EXPECT_EQ(recorded.Find("another"), nullptr);
  EXPECT_EQ(recorded.FindCheck(evaluation.source_digest), nullptr);
}

TEST(ReplayEvaluator, CancelsCandidatesThatAreNotRecorded) {
  const RecordedEvaluations nothing;
  ReplayEvaluator evaluator(nothing);
  Candidate candidate;
  candidate.source = "unknown";
  evaluator.Start({candidate});
  int heard = 0;
  const std::vector<Evaluation> evaluations = evaluator.Finish({}, [&](const Candidate&, const Evaluation&) { ++heard; });
  ASSERT_THAT(evaluations, SizeIs(1));
  EXPECT_EQ(evaluations[0].outcome, Outcome::kCancelled);
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(evaluator.CheckChampion(candidate, candidate, {}).outcome, Outcome::kCancelled);
}

TEST(ReplayEvaluator, RejectsATemplateThatIsNotRecorded) {
  const RecordedEvaluations nothing;
  ReplayEvaluator evaluator(nothing);
  Candidate candidate;
  candidate.source = "unknown";
  candidate.op = kDefault;
  EXPECT_THROW(evaluator.Start({candidate}), Error);
}

}  // namespace
}  // namespace evo
