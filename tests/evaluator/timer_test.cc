#include <gtest/gtest.h>

#include "evaluator/timer/statistics.h"
#include "evaluator/timer/stopping_criterion.h"

namespace evo {
namespace {

TEST(Statistics, MedianIsInterpolatedWithinATick) {
  EXPECT_DOUBLE_EQ(InterpolatedMedian({5}), 5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({7, 7, 7, 7}), 7);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 2, 3}), 2);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 2, 4, 9}), 3);
  // Two kernels whose plain medians are the same tick: the one with more samples above it is slower.
  EXPECT_LT(InterpolatedMedian({24, 25, 25, 25, 25}), InterpolatedMedian({25, 25, 25, 25, 26}));
  EXPECT_DOUBLE_EQ(InterpolatedMedian({10, 11, 11, 11}), 11 - 0.5 + (2.0 - 1) / 3);
}

TEST(Statistics, QuantilesLieBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30}, 0), 10);
  EXPECT_DOUBLE_EQ(Quantile({30, 10, 20}, 0.5), 20);
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30}, 0.25), 15);
  EXPECT_DOUBLE_EQ(Quantile({10, 20, 30}, 1), 30);
}

TEST(Statistics, TheIntervalNarrowsWithSamplesAndNeedsSix) {
  EXPECT_EQ(RelativeHalfWidth({1, 2, 3, 4, 5}), 1);
  std::vector<std::uint32_t> few, many;
  for (std::uint32_t i = 0; i < 10; ++i) few.push_back(1000 + i % 10);
  for (std::uint32_t i = 0; i < 400; ++i) many.push_back(1000 + i % 10);
  EXPECT_LT(RelativeHalfWidth(many), RelativeHalfWidth(few));
  EXPECT_EQ(RelativeHalfWidth(std::vector<std::uint32_t>(8, 500)), 0);
}

TEST(StoppingCriterion, StopsWhenPreciseSlowOrExhausted) {
  StoppingCriterion criterion{.min_samples = 8, .max_samples = 20, .relative_half_width = 0.01, .max_seconds = 1};
  EXPECT_FALSE(criterion.Enough(std::vector<std::uint32_t>(7, 1000), 1));
  EXPECT_TRUE(criterion.Enough(std::vector<std::uint32_t>(8, 1000), 1));
  const std::vector<std::uint32_t> wild{100, 900, 100, 900, 100, 900, 100, 900};
  EXPECT_FALSE(criterion.Enough(wild, 1));
  EXPECT_TRUE(criterion.Enough(wild, 1e9));   // seconds, not nanoseconds: the time is spent
  criterion.give_up_ticks = 300;
  EXPECT_TRUE(criterion.Enough(wild, 1));
  std::vector<std::uint32_t> all;
  for (int i = 0; i < 20; ++i) all.push_back(i % 2 == 0 ? 1 : 200);
  criterion.give_up_ticks = 0;
  EXPECT_TRUE(criterion.Enough(all, 1));
}

}  // namespace
}  // namespace evo
