#include "evaluator/gate/omissions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evo {
namespace {

using Values = std::vector<double>;

OutputCheck CheckedWithin(double l2, double max) { return {OutputCheck::Kind::kTolerance, l2, max}; }

TEST(BlockOmission, IsTheErrorOfZerosOverWhatIsAllowed) {
  BlockOmission blocks(8, 4);
  blocks.Add(Values(8, 3.0), CheckedWithin(0.25, 100));
  const auto least = blocks.Least();
  ASSERT_TRUE(least);
  EXPECT_EQ(least->of, 4U);
  EXPECT_NEAR(least->ratio, std::sqrt(1.0 / 4) / 0.25, 1e-12) << "a quarter of the squares";
}

TEST(BlockOmission, TakesTheStricterOfTheTwoBounds) {
  BlockOmission blocks(8, 4);
  blocks.Add(Values(8, 3.0), CheckedWithin(100, 0.5));
  EXPECT_NEAR(blocks.Least()->ratio, 1 / 0.5, 1e-12) << "each element is as large as the rms";
}

TEST(BlockOmission, NamesTheBlockThatIsMissedLeast) {
  BlockOmission blocks(6, 3);
  blocks.Add({5, 5, 1, 1, 5, 5}, CheckedWithin(0.5, 100));
  EXPECT_EQ(blocks.Least()->index, 1U);
  EXPECT_LT(blocks.Least()->ratio, 1) << "such a kernel passes";
}

TEST(BlockOmission, IsSeenIfOneInputShowsIt) {
  BlockOmission blocks(6, 3);
  blocks.Add({5, 5, 1, 1, 5, 5}, CheckedWithin(0.5, 100));
  blocks.Add({5, 5, 9, 9, 5, 5}, CheckedWithin(0.5, 100));
  EXPECT_GT(blocks.Least()->ratio, 1);
}

TEST(BlockOmission, LeavesOutBlocksInWhichZeroIsRight) {
  BlockOmission blocks(4, 2);
  blocks.Add({7, 7, 0, 0}, CheckedWithin(0.5, 100));
  EXPECT_EQ(blocks.Least()->index, 0U);
  BlockOmission zeros(4, 2);
  zeros.Add(Values(4, 0.0), CheckedWithin(0.5, 100));
  EXPECT_FALSE(zeros.Least());
}

TEST(BlockOmission, OfAnExactOutputOrAnInfinityIsSeen) {
  BlockOmission exact(4, 2);
  exact.Add({7, 7, 1, 1}, {OutputCheck::Kind::kExact, 0, 0});
  EXPECT_EQ(exact.Least()->ratio, kCertainlySeen);
  BlockOmission infinite(4, 2);
  infinite.Add({INFINITY, 7, INFINITY, 1}, CheckedWithin(0.5, 100));
  EXPECT_EQ(infinite.Least()->ratio, kCertainlySeen);
}

TEST(BlockOmission, HasNoMoreBlocksThanElements) {
  BlockOmission blocks(3, 64);
  blocks.Add({1, 1, 1}, CheckedWithin(1, 1));
  EXPECT_EQ(blocks.Least()->of, 3U);
}

TEST(TermOmission, IsOneOfTheTermsWhereAllHaveOneSign) {
  const Values sums(10, 100.0);
  EXPECT_NEAR(TermOmission(sums, sums, 100, CheckedWithin(0.001, 1)), 0.01 / 0.001, 1e-9);
  EXPECT_LT(TermOmission(sums, sums, 100, CheckedWithin(0.02, 1)), 1) << "such a kernel passes";
}

TEST(TermOmission, IsMoreWhereTermsCancel) {
  const Values sums(10, 10.0);
  const Values of_magnitudes(10, 80.0);
  EXPECT_NEAR(TermOmission(sums, of_magnitudes, 100, CheckedWithin(0.02, 10)), 0.08 / 0.02, 1e-9);
}

}  // namespace
}  // namespace evo
