#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/features.h"

namespace evo {

// A model's estimate for one point: a normal distribution.
struct Estimate {
  double mean = 0;
  double deviation = 0;
};

// Regression by a Gaussian process (Rasmussen and Williams, 2006) with a Matern 5/2 kernel that has one length for each
// coordinate (automatic relevance determination). Two different values of a categorical coordinate have the distance 1.
// Deterministic.
class GaussianProcess {
 public:
  explicit GaussianProcess(std::vector<FeatureKind> kinds);

  // Fits these points and values. First adapts the lengths, the amplitude and the noise of the last fit by `adapt` steps towards
  // the greatest posterior density. Each step costs points^3. Precondition: as many values as points, at least one.
  void Fit(const std::vector<Features>& points, std::span<const double> values, int adapt);
  Estimate Predict(const Features& point) const;
  // The mean of Predict, which costs a fraction of Predict if there are many points.
  double PredictMean(const Features& point) const;
  // The solution v of L v = k, with L the Cholesky factor of the covariance of the fitted points and k their covariance with
  // `point`. The covariance of two points given the fitted ones is PriorCovariance(a, b) less the scalar product of their v.
  std::vector<double> Whitened(const Features& point) const;
  double PriorCovariance(const Features& a, const Features& b) const;
  // The variance of a measurement, in the units of the covariances.
  double noise() const;
  // For each point, the estimate of the model without this point (Sundararajan and Keerthi, 2001), with the same lengths.
  std::vector<Estimate> LeaveOneOut() const;
  // Logarithms of the lengths, in the order of the coordinates, of the amplitude (a variance) and of the noise (a variance).
  const std::vector<double>& parameters() const { return theta_; }

 private:
  double SquaredDifference(double a, double b, std::size_t coordinate) const;
  double SquaredDistance(const Features& a, const Features& b, const std::vector<double>& weight) const;
  std::vector<double> Solve(std::vector<double> right) const;  // with Cholesky's factor
  std::vector<double> CovarianceWith(const Features& point) const;
  std::vector<double> InverseSquaredLengths() const;
  void SetDistances(std::size_t point, const std::vector<double>& weight, std::vector<double>& distance) const;
  void SetDifferences();
  void Adapt(int steps);
  void Factorise();
  std::vector<double> Covariance() const;
  void Invert();
  double Gradient(std::vector<double>& gradient) const;

  std::vector<FeatureKind> kinds_;
  std::vector<double> theta_;  // see parameters()
  std::vector<Features> points_;
  std::vector<double> targets_;  // the values, shifted and scaled to mean 0 and deviation 1
  double shift_ = 0;
  double scale_ = 1;
  std::vector<double> differences_;  // squared, by coordinate, then by pair
  std::vector<double> factor_;       // Cholesky's lower triangle, by rows
  std::vector<double> inverse_;      // of the covariance
  std::vector<double> weights_;      // covariance^-1 targets
};

}  // namespace evo
