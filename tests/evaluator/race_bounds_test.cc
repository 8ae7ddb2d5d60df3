#include "evaluator/scheduling/race_bounds.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

Evaluation Measured(const std::string& name, double median_ns) {
  Evaluation evaluation;
  CaseMeasurement& measured = evaluation.cases.emplace_back();
  measured.name = name;
  measured.median_ns = median_ns;
  return evaluation;
}

Evaluation FailedOn(const std::string& name, int generator) {
  Evaluation evaluation;
  evaluation.counterexample = {name, generator, 0};
  return evaluation;
}

TEST(RaceBounds, FollowTheFastestTimeOfEachCase) {
  RaceBounds bounds;
  EXPECT_TRUE(bounds.ByCase().empty());
  bounds.Learn(Measured("a", 200));
  bounds.Learn(Measured("a", 100));
  bounds.Learn(Measured("a", 300));
  bounds.Learn(Measured("b", 1000));
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("a").prune_ns, 125);
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("a").decided_ns, 103);
  EXPECT_DOUBLE_EQ(bounds.ByCase().at("b").prune_ns, 1250);
}

TEST(RaceBounds, NameTheInputsThatFailMost) {
  RaceBounds bounds;
  EXPECT_FALSE(bounds.DeadliestInputs());
  bounds.Learn(FailedOn("a", 1));
  bounds.Learn(FailedOn("a", 2));
  bounds.Learn(FailedOn("a", 2));
  bounds.Learn(Measured("a", 100));
  ASSERT_TRUE(bounds.DeadliestInputs());
  EXPECT_EQ(bounds.DeadliestInputs()->case_name, "a");
  EXPECT_EQ(bounds.DeadliestInputs()->generator, 2);
}

}  // namespace
}  // namespace evo
