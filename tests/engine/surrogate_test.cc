#include "engine/surrogate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "engine/believer.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<FeatureKind> kKinds = {FeatureKind::kOrdinal, FeatureKind::kOrdinal, FeatureKind::kCategorical,
                                         FeatureKind::kOrdinal};

// Two coordinates matter smoothly and together, the words a little, the last not at all.
double Time(const Features& x) {
  const double word = x[2] == 1 ? -0.3 : x[2] == 2 ? 0.2 : 0;
  return 100 * std::exp(2 * (x[0] - 0.7) * (x[0] - 0.7) + (x[1] - x[0]) * (x[1] - x[0]) + word);
}

std::vector<Features> Draw(int count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Features> points;
  for (int i = 0; i < count; ++i) {
    const auto level = [&] { return static_cast<double>(rng.Below(9)) / 8; };
    points.push_back({level(), level(), static_cast<double>(rng.Below(3)), level()});
  }
  return points;
}

TEST(RankCorrelation, HandlesOrdersAndTies) {
  EXPECT_DOUBLE_EQ(RankCorrelation(std::vector<double>{1, 2, 3}, std::vector<double>{10, 20, 900}), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(RankCorrelation(std::vector<double>{1, 1, 1}, std::vector<double>{3, 2, 1}), 0);
  EXPECT_NEAR(RankCorrelation(std::vector<double>{1, 2, 2, 4}, std::vector<double>{1, 2, 3, 4}), 0.9487, 1e-4);
}

TEST(GaussianProcess, FitsItsPointsAndIsUncertainFarFromThem) {
  GaussianProcess process({FeatureKind::kOrdinal});
  const std::vector<Features> points = {{0}, {0.1}, {0.2}, {0.3}};
  process.Fit(points, std::vector<double>{5, 6, 7, 6}, 30);
  const Estimate near = process.Predict({0.1}), far = process.Predict({5});
  EXPECT_NEAR(near.mean, 6, 0.2);
  EXPECT_GT(far.deviation, 2 * near.deviation);
  EXPECT_NEAR(far.mean, 6, 0.5) << "the mean of all";
  EXPECT_NEAR(process.PredictMean({0.17}), process.Predict({0.17}).mean, 1e-12);
}

TEST(GaussianProcess, LearnsWhichCoordinatesMatter) {
  GaussianProcess process(kKinds);
  const std::vector<Features> points = Draw(60, 1);
  std::vector<double> values;
  for (const Features& point : points) values.push_back(std::log(Time(point)));
  process.Fit(points, values, 40);
  EXPECT_GT(process.parameters()[3], process.parameters()[0] + 1) << "the last coordinate's length is much greater";
}

// The short formula against the long way round.
TEST(GaussianProcess, LeaveOneOutEqualsAFitWithoutThatPoint) {
  const std::vector<Features> points = Draw(12, 3);
  std::vector<double> values;
  for (const Features& point : points) values.push_back(std::log(Time(point)));
  GaussianProcess process(kKinds);
  process.Fit(points, values, 10);
  const std::vector<Estimate> estimates = process.LeaveOneOut();
  for (std::size_t left = 0; left < points.size(); ++left) {
    GaussianProcess without = process;
    std::vector<Features> others = points;
    std::vector<double> other_values = values;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    other_values.erase(other_values.begin() + static_cast<std::ptrdiff_t>(left));
    without.Fit(others, other_values, 0);
    // Not the same to the last digit: without the point the values are centred and scaled a little differently.
    EXPECT_NEAR(estimates[left].mean, without.Predict(points[left]).mean, 0.1) << left;
  }
}

TEST(GaussianProcess, AcceptsEqualPointsAndEqualValues) {
  GaussianProcess process({FeatureKind::kOrdinal});
  process.Fit({{0.5}, {0.5}, {0.5}}, std::vector<double>{2, 2, 2}, 10);
  EXPECT_NEAR(process.Predict({0.5}).mean, 2, 1e-6);
  EXPECT_TRUE(std::isfinite(process.Predict({0}).deviation));
}

// The short way against a fit with the point that is believed.
TEST(Believer, EqualsAFitWithWhatIsBelieved) {
  std::vector<Features> points = Draw(12, 3);
  std::vector<double> values;
  for (const Features& point : points) values.push_back(std::log(Time(point)));
  GaussianProcess process(kKinds);
  process.Fit(points, values, 10);
  const std::vector<Features> others = Draw(6, 4);
  Believer believer(process, others);
  believer.Believe(2);
  believer.Believe(4);
  GaussianProcess further = process;
  for (const std::size_t i : {2U, 4U}) {
    points.push_back(others[i]);
    values.push_back(process.Predict(others[i]).mean);
  }
  further.Fit(points, values, 0);
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Estimate before = process.Predict(others[i]), after = further.Predict(others[i]);
    // Not the same to the last digit: values are scaled a little differently.
    EXPECT_NEAR(believer.Remaining(i), after.deviation / before.deviation, 0.1) << i;
    EXPECT_NEAR(before.mean, after.mean, 0.05) << i;
  }
  EXPECT_LT(believer.Remaining(2), 0.5);
}

TEST(Surrogate, ChoosesSeveralPointsApart) {
  Surrogate surrogate({FeatureKind::kOrdinal}, 1);
  for (const double x : {0.0, 0.1, 0.2, 0.9, 1.0, 0.05, 0.15, 0.95}) surrogate.Learn({x}, 100 + 20 * std::abs(x - 0.5));
  surrogate.Fit();
  std::vector<Features> pool;
  for (int i = 0; i < 10; ++i) pool.push_back({0.5 + 1e-4 * i});
  pool.push_back({0.35});
  const std::vector<std::size_t> picks = surrogate.MostPromising(pool, 2);
  EXPECT_EQ(std::count(picks.begin(), picks.end(), 10U), 1) << "not twice the same place";
  const std::vector<Features> pending = {{0.5}};
  EXPECT_THAT(surrogate.MostPromising(pool, 1, pending), ElementsAre(10));
}

TEST(RegressionForest, SplitsOnWordsAndOnNumbers) {
  RegressionForest forest(kKinds);
  const std::vector<Features> points = Draw(200, 5);
  std::vector<double> values, predicted;
  for (const Features& point : points) values.push_back(point[2] == 1 ? 10 : point[0] > 0.5 ? 1 : 0);
  forest.Fit(points, values, 1);
  EXPECT_GT(forest.Predict({0.2, 0.2, 1, 0.2}).mean, 8);
  EXPECT_LT(forest.Predict({0.2, 0.2, 0, 0.2}).mean, 1.5);
  for (const Estimate& estimate : forest.OutOfBag()) predicted.push_back(estimate.mean);
  ASSERT_THAT(predicted, SizeIs(200));
  EXPECT_GT(RankCorrelation(predicted, values), 0.7);
}

// Ranks 300 points that it never saw by 60 that it did.
TEST(Surrogate, RanksAKnownFunction) {
  Surrogate surrogate(kKinds, 1);
  for (const Features& point : Draw(60, 7)) surrogate.Learn(point, Time(point));
  surrogate.Fit();
  EXPECT_GT(surrogate.trust(), 0.8);
  std::vector<double> expected, times;
  for (const Features& point : Draw(300, 8)) {
    expected.push_back(surrogate.Expect(point).log_time.mean);
    times.push_back(Time(point));
  }
  EXPECT_GT(RankCorrelation(expected, times), 0.9);
}

TEST(Surrogate, PicksPointsFarBetterThanTheAverage) {
  Surrogate surrogate(kKinds, 1);
  for (const Features& point : Draw(40, 7)) surrogate.Learn(point, Time(point));
  surrogate.Fit();
  std::vector<Features> pool = Draw(1000, 9);
  const std::vector<std::size_t> picks = surrogate.MostPromising(pool, 5);
  ASSERT_THAT(picks, SizeIs(5));
  for (const std::size_t pick : picks) EXPECT_LT(Time(pool[pick]), 1.1 * Time({0.7, 0.7, 1, 0}));
}

TEST(Surrogate, ReportsNoTrustIfThereIsNothingToLearn) {
  Surrogate empty(kKinds, 1);
  empty.Fit();
  EXPECT_EQ(empty.trust(), 0);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Surrogate surrogate(kKinds, seed);
    Rng rng(seed);
    for (const Features& point : Draw(60, seed + 100)) surrogate.Learn(point, 1 + rng.Uniform());
    surrogate.Fit();
    sum += surrogate.trust();
  }
  EXPECT_LT(sum / 10, 0.1) << "of ten functions that are nothing but chance";
}

TEST(SurrogateShare, GrowsWithTrust) {
  EXPECT_EQ(SurrogateShare(0), 0);
  EXPECT_NEAR(SurrogateShare(0.15), 0.5, 1e-12);
  EXPECT_LT(SurrogateShare(1), 1) << "something is always left to evolution";
}

TEST(Surrogate, AvoidsPointsLikeThoseThatFailed) {
  Surrogate surrogate(kKinds, 1);
  // The faster half of the first coordinate does not run.
  for (const Features& point : Draw(80, 11)) surrogate.Learn(point, point[0] > 0.5 ? std::nullopt : std::optional(Time(point)));
  surrogate.Fit();
  EXPECT_GT(surrogate.Expect({0.25, 0.5, 1, 0.5}).ok, 0.8);
  EXPECT_LT(surrogate.Expect({0.875, 0.5, 1, 0.5}).ok, 0.2);
  const std::vector<Features> pool = Draw(300, 12);
  for (const std::size_t pick : surrogate.MostPromising(pool, 5))
    EXPECT_LE(pool[pick][0], 0.625) << "but for the border, which may be probed";
}

TEST(Surrogate, AcceptsPointsThatAllFailed) {
  Surrogate surrogate(kKinds, 1);
  for (const Features& point : Draw(20, 13)) surrogate.Learn(point, std::nullopt);
  surrogate.Fit();
  EXPECT_EQ(surrogate.trust(), 0);
  EXPECT_LT(surrogate.Expect({0, 0, 0, 0}).ok, 0.1);
  EXPECT_THAT(surrogate.MostPromising(std::vector<Features>{}, 3), IsEmpty());
  EXPECT_THAT(surrogate.MostPromising(std::vector<Features>{{0, 0, 0, 0}}, 3), ElementsAre(0));
}

TEST(Surrogate, IsDeterministicAndAcceptsMorePointsThanItFits) {
  const std::vector<Features> pool = Draw(700, 15);
  std::vector<std::vector<std::size_t>> picks;
  for (int round = 0; round < 2; ++round) {
    Surrogate surrogate(kKinds, 3);
    for (const Features& point : Draw(400, 14)) surrogate.Learn(point, Time(point));
    surrogate.Fit();
    EXPECT_GT(surrogate.trust(), 0.8);
    picks.push_back(surrogate.MostPromising(pool, 10));
  }
  EXPECT_EQ(picks[0], picks[1]);
}

}  // namespace
}  // namespace evo
