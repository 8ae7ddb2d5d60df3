#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/features.h"

namespace evo {

// What a model says of one point: a normal distribution.
struct Estimate {
  double mean = 0;
  double deviation = 0;
};

// Regression by a Gaussian process (Rasmussen and Williams, 2006): Matern 5/2 kernel with a length of its own for each coordinate
// (automatic relevance determination); a categorical coordinate counts as a distance of 1 where it differs. Deterministic.
class GaussianProcess {
 public:
  explicit GaussianProcess(std::vector<FeatureKind> kinds);

  // Takes these points with their values and, if `adapt` > 0, improves the lengths, the amplitude and the noise by that many
  // steps towards the greatest posterior density, from where they stood. Cost: points^3 a step. Precondition: as many values as
  // points, one at least.
  void Fit(const std::vector<Features>& points, std::span<const double> values, int adapt);
  Estimate Predict(const Features& point) const;
  // The mean of Predict alone, for a fraction of the cost where there are many points.
  double PredictMean(const Features& point) const;
  // What the model would say of each point had it been fitted without it (Sundararajan and Keerthi, 2001), with the same lengths.
  std::vector<Estimate> LeaveOneOut() const;
  // Of the logarithms: lengths in the order of the coordinates, amplitude (variance), noise (variance).
  const std::vector<double>& parameters() const { return theta_; }

 private:
  double SquaredDifference(double a, double b, std::size_t coordinate) const;
  std::vector<double> CovarianceWith(const Features& point) const;
  void Factorise();
  double Gradient(std::vector<double>& gradient);

  std::vector<FeatureKind> kinds_;
  std::vector<double> theta_;
  std::vector<Features> points_;
  std::vector<double> targets_;  // values, brought to mean 0 and deviation 1
  double shift_ = 0;
  double scale_ = 1;
  std::vector<double> differences_;  // squared, by coordinate, then by pair
  std::vector<double> factor_;       // Cholesky's lower triangle, by rows
  std::vector<double> inverse_;      // of the covariance
  std::vector<double> weights_;      // covariance^-1 targets
};

}  // namespace evo
