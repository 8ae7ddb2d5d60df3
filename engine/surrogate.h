#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/features.h"
#include "engine/mixed_model.h"
#include "engine/regression_forest.h"

namespace evo {

// A surrogate's expectation of a candidate that was not evaluated.
struct Expectation {
  Estimate log_time;       // natural logarithm of the time if the candidate runs
  double ok = 1;           // probability that it runs
  double improvement = 0;  // expected improvement of the logarithm of the best time so far; the greatest ranks first
};

// Predicts from the measurements so far which candidates are worth evaluating, and says how far it can be trusted. A mixed model
// predicts the logarithm of the time, a forest which candidates fail. Deterministic given the seed and the points in their order.
class Surrogate {
 public:
  Surrogate(const std::vector<FeatureKind>& kinds, std::uint64_t seed);

  // One candidate that was evaluated. No time: it failed.
  void Learn(Features point, std::optional<double> time);
  // Fits the models to the points learnt so far, which the calls below use only then; if there are many, to the fastest and the
  // latest. The process starts from its last fit and adapts by `steps`, or by the steps that suffice when points come one by one.
  void Fit(std::optional<int> steps = {});
  // The steps of one fit to many points at once.
  static constexpr int kStepsFromAnew = 24;
  // From 0 (knows nothing; choose without it) to 1. It is the rank correlation between the times of the fitted points and the
  // estimates of the models without the point, less the standard deviation of this correlation for unrelated values; 0 if that
  // is negative or if too few points ran.
  double trust() const { return trust_; }
  Expectation Expect(const Features& point) const;
  // The indices of the `count` most promising of these, most promising first; equals in their order. Each is chosen as if those
  // before it, and the `pending` ones, had been measured as expected (engine/believer.h). If there are many, only a sample is
  // examined of those whose mean is far from fast.
  std::vector<std::size_t> MostPromising(std::span<const Features> points, std::size_t count,
                                         std::span<const Features> pending = {}) const;

 private:
  void Subset(std::vector<Features>& points, std::vector<double>& log_times) const;
  std::vector<std::size_t> ShortList(std::span<const Features> points, std::size_t count) const;
  bool ready() const { return log_times_.size() >= kFewest; }
  bool some_failed() const { return points_.size() > ok_points_.size(); }

  static constexpr std::size_t kFewest = 5;  // points that ran; fewer say nothing about 10 coordinates
  std::uint64_t seed_;
  std::vector<Features> points_;     // all
  std::vector<double> ok_;           // 1 for each of points_ that ran, else 0
  std::vector<Features> ok_points_;  // those that ran
  std::vector<double> log_times_;    // of ok_points_
  MixedModel model_;                 // of the logarithm of the time
  RegressionForest chance_;          // of running
  double trust_ = 0;
  double best_ = 0;  // smallest logarithm of a time
};

// The share of the choices that a surrogate with this trust makes. The rest is left to evolution, which finds what the models
// cannot see.
double SurrogateShare(double trust);

// Spearman's rank correlation: Pearson's correlation of the ranks, where equal values share the mean of their ranks. 0 if all
// values of one side are equal. Precondition: both sides have the same size.
double RankCorrelation(std::span<const double> a, std::span<const double> b);

}  // namespace evo
