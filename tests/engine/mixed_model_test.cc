#include "engine/mixed_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"

namespace evo {
namespace {

struct KnownPoints {
  std::vector<Features> points;
  std::vector<double> values;
};

// 40 points of a function of one coordinate.
template <typename Function>
KnownPoints PointsOf(const Function& function) {
  KnownPoints known;
  Rng rng(1);
  for (int i = 0; i < 40; ++i) {
    const double x = static_cast<double>(rng.Below(1000)) / 1000;
    known.points.push_back({x});
    known.values.push_back(function(x));
  }
  return known;
}

double ErrorOf(const std::vector<double>& means, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (means[i] - values[i]) * (means[i] - values[i]);
  return sum;
}

std::vector<double> Means(const std::vector<Estimate>& estimates) {
  std::vector<double> means;
  for (const Estimate& one : estimates) means.push_back(one.mean);
  return means;
}

TEST(MixedModel, TrustsTheModelThatPredictsBetter) {
  const KnownPoints smooth = PointsOf([](double x) { return std::sin(5 * x); });
  MixedModel model({FeatureKind::kOrdinal});
  const std::vector<double> left_out = model.Fit(smooth.points, smooth.values, 24, 1);
  GaussianProcess process({FeatureKind::kOrdinal});
  process.Fit(smooth.points, smooth.values, 24);
  RegressionForest forest({FeatureKind::kOrdinal});
  forest.Fit(smooth.points, smooth.values, 1);
  EXPECT_LT(ErrorOf(left_out, smooth.values), ErrorOf(Means(forest.OutOfBag()), smooth.values) / 4);
  const double by_process = process.Predict({0.5}).mean, by_forest = forest.Predict({0.5}).mean;
  const double mixed = model.Predict({0.5}).mean;
  EXPECT_LT(std::abs(mixed - by_process), std::abs(mixed - by_forest));
}

TEST(MixedModel, GivesTheMeanAloneAsWell) {
  const KnownPoints steps = PointsOf([](double x) { return std::floor(4 * x); });
  MixedModel model({FeatureKind::kOrdinal});
  model.Fit(steps.points, steps.values, 8, 1);
  for (const double x : {0.1, 0.45, 0.9}) EXPECT_NEAR(model.PredictMean({x}), model.Predict({x}).mean, 1e-9);
}

TEST(MixedModel, IsDeterministic) {
  const KnownPoints known = PointsOf([](double x) { return x * x; });
  MixedModel a({FeatureKind::kOrdinal}), b({FeatureKind::kOrdinal});
  EXPECT_EQ(a.Fit(known.points, known.values, 8, 3), b.Fit(known.points, known.values, 8, 3));
  EXPECT_EQ(a.Predict({0.3}).deviation, b.Predict({0.3}).deviation);
}

}  // namespace
}  // namespace evo
