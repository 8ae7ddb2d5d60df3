#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/features.h"
#include "engine/gaussian_process.h"
#include "engine/regression_forest.h"

namespace evo {

// What a surrogate expects of a candidate that was not evaluated.
struct Expectation {
  Estimate log_time;       // natural logarithm, if the candidate runs
  double ok = 1;           // probability that it does
  double improvement = 0;  // expected, of the logarithm of the best time so far: what to rank by, greatest first
};

// Predicts from what has been measured which candidates are worth evaluating, and says how far it can be trusted. Two models of
// the logarithm of the time, a Gaussian process and a forest, are mixed by how well each predicts points that it was not shown; a
// second forest predicts what fails. Deterministic given the seed and the points in their order.
class Surrogate {
 public:
  Surrogate(std::vector<FeatureKind> kinds, std::uint64_t seed);

  // One candidate that was evaluated; nullopt: it failed.
  void Learn(Features point, std::optional<double> time);
  // Fits the models to what was learnt; of many points, to the fastest and the latest. Needed before the calls below hear of it.
  // The process goes on from its last fit, by the steps named or by as many as are usual when points come one by one.
  void Fit(std::optional<int> steps = {});
  // For one fit to many points at once.
  static constexpr int kStepsFromAnew = 24;
  // From 0 (knows nothing: choose without it) to 1: the rank correlation between the times of the points fitted and what the
  // models say of each when it is not shown to them, less the standard deviation that chance alone would give it; 0 where that is
  // negative, or too few points ran.
  double trust() const { return trust_; }
  Expectation Expect(const Features& point) const;
  // The places of the `count` most promising of these, most promising first; equals in their order. Of many, those that are far
  // from fast in the mean are looked at by sample only.
  std::vector<std::size_t> MostPromising(std::span<const Features> points, std::size_t count) const;

 private:
  void Subset(std::vector<Features>& points, std::vector<double>& log_times) const;
  double MeanOf(const Features& point) const;
  bool ready() const { return log_times_.size() >= kFewest; }

  static constexpr std::size_t kFewest = 5;  // that ran; fewer say nothing about 10 coordinates
  std::vector<FeatureKind> kinds_;
  std::uint64_t seed_;
  std::vector<Features> points_;  // all
  std::vector<double> ok_;        // of all: 1 or 0
  std::vector<Features> ok_points_;
  std::vector<double> log_times_;  // of those
  std::size_t failed_ = 0;
  GaussianProcess process_;
  RegressionForest forest_;
  RegressionForest chance_;     // that a candidate runs
  double process_share_ = 0.5;  // of the process in the mixture; the rest is the forest's
  double trust_ = 0;
  double best_ = 0;  // smallest logarithm of a time
};

// What part of the choices to leave to a surrogate that is trusted so far; the rest is for what its models cannot see.
double SurrogateShare(double trust);

// Spearman's: Pearson's correlation of the ranks, equal values sharing the mean of theirs; 0 if either does not vary.
// Precondition: as many of both.
double RankCorrelation(std::span<const double> a, std::span<const double> b);

}  // namespace evo
