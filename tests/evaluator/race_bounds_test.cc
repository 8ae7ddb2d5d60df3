#include "evaluator/scheduling/race_bounds.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

Evaluation MeasuredAs(const std::string& name, double median_ns) {
  Evaluation evaluation;
  CaseMeasurement& measured = evaluation.cases.emplace_back();
  measured.name = name;
  measured.median_ns = median_ns;
  return evaluation;
}

Evaluation FailedOn(const std::string& name, int generator) {
  Evaluation evaluation;
  evaluation.counterexample = {name, generator, 0, ""};
  return evaluation;
}

TEST(RaceBounds, FollowTheFastestTimeOfEachCase) {
  RaceBounds bounds;
  EXPECT_TRUE(bounds.ByCase().empty());
  bounds.Learn(MeasuredAs("a", 200));
  bounds.Learn(MeasuredAs("a", 100));
  bounds.Learn(MeasuredAs("a", 300));
  bounds.Learn(MeasuredAs("b", 1000));
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("a").prune_ns, 125);
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("a").decided_ns, 103);
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("a").best_ns, 100);
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("b").prune_ns, 1250);
}

TEST(RaceBounds, NameTheInputsThatFailMost) {
  RaceBounds bounds;
  EXPECT_TRUE(bounds.InputsToTryFirst().empty());
  bounds.Learn(FailedOn("a", 1));
  bounds.Learn(FailedOn("a", 2));
  bounds.Learn(FailedOn("a", 2));
  bounds.Learn(MeasuredAs("a", 100));
  bounds.Learn(Counterexample{"a", 0, 5, "X: constant(3)"});
  bounds.Learn(Counterexample{"a", 0, 6, "X: constant(3)"});
  bounds.Learn(Counterexample{"a", 0, 7, "X: constant(3)"});
  bounds.Learn(FailedOn("b", 0));
  const std::vector<Counterexample> deadliest = bounds.InputsToTryFirst();
  ASSERT_EQ(deadliest.size(), RaceBounds::kDeadliest);
  EXPECT_EQ(deadliest[0].inputs, "X: constant(3)");
  EXPECT_EQ(deadliest[0].seed, 5U) << "as it was first found";
  EXPECT_EQ(deadliest[1].case_name, "a");
  EXPECT_EQ(deadliest[1].generator, 2);
}

TEST(RaceBounds, NameFirstWhatTheSearchDidNotSee) {
  RaceBounds bounds;
  for (int i = 0; i < 9; ++i) bounds.Learn(FailedOn("a", 1));
  bounds.LearnMissed({"small", 0, 5, "X: scale(1e+15)"});
  bounds.LearnMissed({"a", 1, 7, ""});
  bounds.LearnMissed({});
  bounds.LearnMissed({"small", 0, 9, "X: scale(1e+15)"});
  const std::vector<Counterexample> first = bounds.InputsToTryFirst();
  ASSERT_EQ(first.size(), 2u) << "each once";
  EXPECT_EQ(first[0].inputs, "X: scale(1e+15)");
  EXPECT_EQ(first[0].seed, 9u) << "as it was last found";
  EXPECT_EQ(first[1].generator, 1);
  for (int i = 0; i < 9; ++i) bounds.LearnMissed({"b", i, 0, ""});
  EXPECT_EQ(bounds.InputsToTryFirst().size(), RaceBounds::kMissed + 1);
}

}  // namespace
}  // namespace evo
