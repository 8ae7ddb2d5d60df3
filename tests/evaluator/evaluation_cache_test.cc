#include "evaluator/scheduling/evaluation_cache.h"

#include <gtest/gtest.h>

#include "evaluator/scheduling/scheduled_candidate.h"

namespace evo {
namespace {

using Claim = EvaluationCache::Claim;
using Waiters = std::vector<EvaluationCache::Waiter>;

EvaluationCache::Waiter NewWaiter() { return std::make_shared<ScheduledCandidate>(); }

Evaluation Done(Outcome outcome, const std::string& program, const std::string& source = "source") {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.program_digest = program;
  evaluation.source_digest = source;
  evaluation.cases = {CaseMeasurement{}};
  evaluation.cases[0].samples = {1, 2, 3};
  return evaluation;
}

TEST(EvaluationCache, AProgramIsEvaluatedOnceAndWaitedFor) {
  EvaluationCache cache;
  const auto second = NewWaiter();
  EXPECT_EQ(cache.ClaimProgram("p", NewWaiter(), false).claim, Claim::kYours);
  EXPECT_EQ(cache.ClaimProgram("p", second, false).claim, Claim::kWait);
  EXPECT_EQ(cache.ClaimProgram("q", NewWaiter(), false).claim, Claim::kYours);
  const auto resolved = cache.ResolveWaiters("p", 7, Done(Outcome::kOk, "p"));
  EXPECT_TRUE(resolved.final);
  EXPECT_EQ(resolved.waiting, Waiters{second});
  const auto known = cache.ClaimProgram("p", NewWaiter(), false);
  ASSERT_EQ(known.claim, Claim::kKnown);
  EXPECT_EQ(known.evaluation->shared_run, 0);
  EXPECT_EQ(known.evaluation->shared_candidate, 7);
  EXPECT_EQ(known.evaluation->cases[0].samples.size(), 3u) << "conclusions from them hold for both candidates";
}

TEST(EvaluationCache, ANoisyProgramIsEvaluatedAgainByTheNextWaiter) {
  EvaluationCache cache;
  const auto second = NewWaiter();
  const auto third = NewWaiter();
  cache.ClaimProgram("p", NewWaiter(), false);
  cache.ClaimProgram("p", second, false);
  cache.ClaimProgram("p", third, false);
  const auto noisy = cache.ResolveWaiters("p", 7, Done(Outcome::kNoisy, "p"));
  EXPECT_FALSE(noisy.final);
  EXPECT_EQ(noisy.waiting, Waiters{second});
  EXPECT_EQ(cache.ResolveWaiters("p", 8, Done(Outcome::kWrongResult, "p")).waiting, Waiters{third});
}

TEST(EvaluationCache, EarlierRunsCountUnlessAskedAfresh) {
  EvaluationCache cache(
      {{3, 5, Done(Outcome::kOk, "p", "s")}, {3, 6, Done(Outcome::kNoisy, "n", "t")}, {3, 7, Done(Outcome::kTimeout, "h", "u")}});
  ASSERT_NE(cache.FindSource("s"), nullptr);
  EXPECT_EQ(cache.FindSource("s")->shared_run, 3);
  EXPECT_EQ(cache.FindSource("s")->shared_candidate, 5);
  EXPECT_EQ(cache.FindSource("t"), nullptr);
  EXPECT_EQ(cache.FindSource("u"), nullptr) << "deadlines are a run's own";
  EXPECT_EQ(cache.ClaimProgram("p", NewWaiter(), false).claim, Claim::kKnown);
  EXPECT_EQ(cache.ClaimProgram("p", NewWaiter(), true).claim, Claim::kYours) << "a run measures its own baseline";
  EXPECT_EQ(cache.ClaimProgram("n", NewWaiter(), false).claim, Claim::kYours);
}

}  // namespace
}  // namespace evo
