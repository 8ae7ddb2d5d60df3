#include "evaluator/timer/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "evaluator/timer/stopping_criterion.h"

namespace evo {
namespace {

using Ticks = std::vector<std::uint32_t>;

TEST(InterpolatedMedian, OfDistinctValuesIsTheMedian) {
  EXPECT_DOUBLE_EQ(InterpolatedMedian({5}), 5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 2}), 1.5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({10, 4, 1, 8}), 6);
}

// L + (n/2 - below) / equal with L = m - 1/2: the grouped median of any statistics text.
TEST(InterpolatedMedian, OfTiesLiesWithinTheTick) {
  EXPECT_DOUBLE_EQ(InterpolatedMedian({3, 3, 3, 3}), 3);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 1, 1, 2}), 0.5 + 2.0 / 3);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 2, 2, 2}), 1.5 + 1.0 / 3);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 2, 2, 3, 4, 4, 4, 5}), 3.5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({52, 52, 53, 53, 53, 53, 53, 54, 54, 54, 56}), 52.5 + (5.5 - 2) / 5);
}

TEST(InterpolatedMedian, OfTwoEvenGroupsIsBetweenThem) {
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 1, 2, 2}), 1.5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({1, 1, 7, 7}), 4);
}

TEST(InterpolatedMedian, DoesNotWrapAtTheLargestCount) {
  EXPECT_DOUBLE_EQ(InterpolatedMedian({0xffffffffU, 0xffffffffU}), 4294967295.0);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({0xfffffffeU, 0xffffffffU}), 4294967294.5);
  EXPECT_DOUBLE_EQ(InterpolatedMedian({0, 0, 0}), 0);
}

// Two kernels whose times differ by a third of a tick, seen through the coarse timer: the plain medians are equal, these are not.
TEST(InterpolatedMedian, TellsApartWhatDiffersByLessThanATick) {
  const auto timed = [](double mean, std::uint64_t seed) {
    Rng rng(seed);
    Ticks ticks;
    for (int i = 0; i < 2000; ++i) ticks.push_back(static_cast<std::uint32_t>(std::lround(mean + 2 * (rng.Uniform() - 0.5))));
    return ticks;
  };
  const Ticks slow = timed(30.16, 1);
  const Ticks fast = timed(29.83, 2);
  EXPECT_EQ(Quantile(slow, 0.5), Quantile(fast, 0.5));
  EXPECT_NEAR(InterpolatedMedian(slow), 30.16, 0.1);
  EXPECT_NEAR(InterpolatedMedian(fast), 29.83, 0.1);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const Ticks ticks = {40, 10, 20, 30, 50};
  EXPECT_DOUBLE_EQ(Quantile(ticks, 0), 10);
  EXPECT_DOUBLE_EQ(Quantile(ticks, 0.25), 20);
  EXPECT_DOUBLE_EQ(Quantile(ticks, 0.1), 14);
  EXPECT_DOUBLE_EQ(Quantile(ticks, 0.9), 46);
  EXPECT_DOUBLE_EQ(Quantile(ticks, 1), 50);
  EXPECT_DOUBLE_EQ(Quantile({7}, 0.3), 7);
  EXPECT_DOUBLE_EQ(Quantile({1, 0xffffffffU}, 0.5), 2147483648.0);
}

TEST(RelativeHalfWidth, OfFewSamplesIsOne) {
  EXPECT_EQ(RelativeHalfWidth({}), 1);
  EXPECT_EQ(RelativeHalfWidth({100, 100, 100, 100, 100}), 1);
}

TEST(RelativeHalfWidth, ComesFromOrderStatistics) {
  // Six that are equal lie anywhere within their tick: spread evenly, from 1/12 of it to 11/12.
  EXPECT_NEAR(RelativeHalfWidth(Ticks(6, 100)), 10.0 / 12 / 2 / 100, 1e-12);
  // Six samples: the interval is from the smallest to the largest.
  EXPECT_DOUBLE_EQ(RelativeHalfWidth({90, 95, 99, 101, 105, 110}), 0.1);
  // A hundred, 1 to 100: ranks 50 -+ 9.8, so order statistics 40 and 60 counted from 0.
  Ticks hundred;
  for (std::uint32_t i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_DOUBLE_EQ(RelativeHalfWidth(hundred), (61.0 - 41.0) / 2 / 50.5);
}

TEST(RelativeHalfWidth, AnOutlierAmongManyDoesNotCount) {
  Ticks ticks(50, 1000);
  ticks[17] = 900'000;
  EXPECT_LT(RelativeHalfWidth(ticks), 0.2 / 1000);
}

TEST(RelativeHalfWidth, IsFinerThanACoarseTimer) {
  // A short kernel of 66.4 ticks, and what 1,000 samples of it say: two ticks, and a median between them that is known to a
  // twentieth of one.
  Ticks ticks(600, 66);
  ticks.insert(ticks.end(), 400, 67);
  EXPECT_LT(RelativeHalfWidth(ticks), 0.06 / 66);
  EXPECT_GT(RelativeHalfWidth(ticks), 0.02 / 66);
}

TEST(RelativeHalfWidth, OfATimerThatStandsStillIsOne) { EXPECT_EQ(RelativeHalfWidth(Ticks(20, 0)), 1); }

// The interval covers the true median about as often as it says.
TEST(RelativeHalfWidth, CoversTheMedian) {
  int covered = 0;
  constexpr int kTrials = 400;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    Rng rng(trial);
    Ticks ticks;
    for (int i = 0; i < 40; ++i) ticks.push_back(static_cast<std::uint32_t>(100'000 + rng.Below(20'001)));
    const double median = InterpolatedMedian(ticks);
    if (std::abs(median - 110'000) <= RelativeHalfWidth(ticks) * median * 1.2) ++covered;
  }
  EXPECT_GE(covered, kTrials * 93 / 100);
}

StoppingCriterion Criterion() {
  return {SamplingPlan{.min_samples = 10, .max_samples = 50, .relative_half_width = 0.01, .max_seconds = 0.5}};
}

Ticks Alternating(std::size_t count, std::uint32_t low, std::uint32_t high) {
  Ticks ticks;
  for (std::size_t i = 0; i < count; ++i) ticks.push_back(i % 2 == 0 ? low : high);
  return ticks;
}

TEST(Outliers, AreFarAboveTheMedian) {
  std::vector<std::uint32_t> ticks;
  for (std::uint32_t i = 0; i < 20; ++i) ticks.push_back(1000 + i % 5);
  EXPECT_EQ(CountOutliers(ticks), 0);
  ticks.push_back(1100);
  ticks.push_back(900);
  EXPECT_EQ(CountOutliers(ticks), 1) << "below the median nothing else had the machine";
}

TEST(Outliers, AStepOfACoarseTimerIsNone) {
  std::vector<std::uint32_t> ticks(20, 30);
  ticks.push_back(31);
  ticks.push_back(32);
  EXPECT_EQ(CountOutliers(ticks), 0);
  ticks.push_back(33);
  EXPECT_EQ(CountOutliers(ticks), 1);
}

TEST(StoppingCriterion, AsksForTheFewestFirst) {
  EXPECT_FALSE(Criterion().Enough({}, 1));
  EXPECT_FALSE(Criterion().Enough(Ticks(9, 1000), 1));
  EXPECT_TRUE(Criterion().Enough(Ticks(10, 1000), 1));
}

TEST(StoppingCriterion, GoesOnWhileTheIntervalIsWide) {
  EXPECT_FALSE(Criterion().Enough(Alternating(30, 900, 1100), 1));
  EXPECT_TRUE(Criterion().Enough(Alternating(30, 999, 1001), 1));
  EXPECT_TRUE(Criterion().Enough(Alternating(50, 900, 1100), 1)) << "the most";
}

TEST(StoppingCriterion, StopsWhenTheTimeIsSpent) {
  EXPECT_FALSE(Criterion().Enough(Alternating(20, 9'000'000, 11'000'000), 1)) << "0.2 s";
  EXPECT_TRUE(Criterion().Enough(Alternating(20, 9'000'000, 11'000'000), 32)) << "6.4 s";
  EXPECT_FALSE(Criterion().Enough(Alternating(9, 900'000'000, 1'100'000'000), 1)) << "never before the fewest";
}

TEST(StoppingCriterion, WhatHasLostForCertainIsDecided) {
  StoppingCriterion criterion{kCudaPolicy.sampling};
  const Ticks noisy = Alternating(20, 980, 1020);  // the interval is 1000 -+ 20
  EXPECT_FALSE(criterion.Enough(noisy, 32));
  criterion.decided_ticks = 990;
  EXPECT_FALSE(criterion.Enough(noisy, 32)) << "it may still be faster";
  criterion.decided_ticks = 970;
  EXPECT_TRUE(criterion.Enough(noisy, 32));
  EXPECT_FALSE(criterion.Enough(Alternating(6, 980, 1020), 32)) << "never before the fewest";
}

TEST(StoppingCriterion, TakesTheUsualNumberUnlessThatTakesTooLong) {
  const StoppingCriterion idle{*kCudaPolicy.idle_sampling};
  EXPECT_FALSE(idle.Enough(Ticks(479, 1000), 32)) << "15 ms in all, as steady as can be";
  EXPECT_TRUE(idle.Enough(Ticks(480, 1000), 32));
  EXPECT_TRUE(idle.Enough(Ticks(8, 340'000), 32)) << "a slow baseline: 87 ms in all";
  EXPECT_FALSE(idle.Enough(Ticks(7, 340'000), 32));
}

TEST(StoppingCriterion, TakesFewOfAKernelThatIsLong) {
  const StoppingCriterion criterion{kCudaPolicy.sampling};
  EXPECT_FALSE(criterion.Enough(Ticks(2, 9'500'000), 32)) << "0.3 s each";
  EXPECT_TRUE(criterion.Enough(Ticks(3, 9'500'000), 32));
  EXPECT_FALSE(criterion.Enough(Ticks(7, 900'000), 32)) << "0.03 s each";
  EXPECT_FALSE(Criterion().Enough(Ticks(9, 900'000'000), 1)) << "a plan without such kernels";
}

TEST(StoppingCriterion, PrunesAfterOneSampleWhatIsFarBeyond) {
  StoppingCriterion criterion = Criterion();
  EXPECT_FALSE(criterion.Prunes(Ticks(1, 16'100)));
  criterion.prune_ticks = 1000;
  EXPECT_TRUE(criterion.Prunes(Ticks(1, 16'100)));
  EXPECT_FALSE(criterion.Prunes(Ticks(1, 15'900)));
  EXPECT_FALSE(criterion.Prunes({}));
}

TEST(StoppingCriterion, PrunesWhatIsTooSlow) {
  StoppingCriterion criterion = Criterion();
  criterion.prune_ticks = 800;
  EXPECT_FALSE(criterion.Enough(Alternating(4, 900, 1100), 1)) << "too early to say";
  EXPECT_TRUE(criterion.Enough(Alternating(5, 900, 1100), 1));
  EXPECT_TRUE(criterion.Prunes(Alternating(5, 900, 1100)));
  criterion.prune_ticks = 224;
  EXPECT_FALSE(criterion.Prunes(Ticks(1, 900))) << "one launch may have been unlucky";
  EXPECT_TRUE(criterion.Prunes(Ticks(2, 900))) << "more than four times as slow";
  EXPECT_FALSE(criterion.Prunes({900, 890}));
  criterion.prune_ticks = 1000;
  EXPECT_FALSE(criterion.Enough(Alternating(9, 900, 1100), 1)) << "its fastest sample may still win";
  EXPECT_FALSE(criterion.Prunes(Alternating(9, 900, 1100)));
}

TEST(StoppingCriterion, ThoseInUseCanBeMet) {
  for (const StoppingCriterion& criterion : {StoppingCriterion{kCudaPolicy.sampling}, StoppingCriterion{kCpuPolicy.sampling}}) {
    const auto fewest = static_cast<std::size_t>(criterion.min_samples);
    EXPECT_LT(criterion.min_samples, criterion.max_samples);
    EXPECT_TRUE(criterion.Enough(Ticks(fewest, 1000), 1)) << "a steady kernel is done at once";
    EXPECT_FALSE(criterion.Enough(Ticks(fewest - 1, 1000), 1));
  }
}

}  // namespace
}  // namespace evo
