#include "engine/gaussian_process.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace evo {
namespace {

// Priors of the logarithms, mean and deviation: lengths near 1 for coordinates from 0 to 1, amplitude 1 and little noise for
// values of deviation 1. The priors are wide. They keep the length of a coordinate finite that does not matter.
constexpr double kLength = 0.4, kLengthDeviation = 1.0;
constexpr double kAmplitude = 0.0, kAmplitudeDeviation = 1.0;
constexpr double kNoise = -5.0, kNoiseDeviation = 2.0;
// Bounds of the logarithms. Beyond them only the condition of the matrix changes.
constexpr double kSmallest = -9.0, kLargest = 6.0;

const double kRoot5 = std::sqrt(5.0);

double Matern(double squared_distance) {
  const double r = kRoot5 * std::sqrt(squared_distance);
  return (1 + r + r * r / 3) * std::exp(-r);
}

// -2 d Matern / d (squared distance), a factor of the gradient.
double MaternSlope(double squared_distance) {
  const double r = kRoot5 * std::sqrt(squared_distance);
  return 5.0 / 3.0 * (1 + r) * std::exp(-r);
}

// Four sums at a time are three times as fast. The compiler may not reorder the additions by itself.
double Dot(const double* a, const double* b, std::size_t count) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Replaces the lower triangle by its Cholesky factor. False if the matrix is not positive definite.
bool Cholesky(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = &a[i * n];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = &a[j * n];
      const double sum = row[j] - Dot(row, other, j);
      if (i != j)
        row[j] = sum / other[j];
      else if (sum <= 0)
        return false;
      else
        row[j] = std::sqrt(sum);
    }
  }
  return true;
}

}  // namespace

GaussianProcess::GaussianProcess(std::vector<FeatureKind> kinds) : kinds_(std::move(kinds)), theta_(kinds_.size(), kLength) {
  theta_.push_back(kAmplitude);
  theta_.push_back(kNoise);
}

double GaussianProcess::SquaredDifference(double a, double b, std::size_t coordinate) const {
  if (kinds_[coordinate] == FeatureKind::kCategorical) return a == b ? 0 : 1;
  return (a - b) * (a - b);
}

void GaussianProcess::Fit(const std::vector<Features>& points, std::span<const double> values, int adapt) {
  assert(points.size() == values.size() && !points.empty());
  const auto n = static_cast<double>(points.size());
  points_ = points;
  shift_ = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (const double value : values) sum += (value - shift_) * (value - shift_);
  scale_ = std::max(std::sqrt(sum / n), 1e-9);
  targets_.clear();
  for (const double value : values) targets_.push_back((value - shift_) / scale_);
  SetDifferences();
  Adapt(adapt);
  Factorise();
}

void GaussianProcess::SetDifferences() {
  const std::size_t n = points_.size();
  differences_.resize(kinds_.size() * n * n);
  for (std::size_t d = 0; d < kinds_.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) differences_[(d * n + i) * n + j] = SquaredDifference(points_[i][d], points_[j][d], d);
    }
  }
}

// Resilient propagation (Riedmiller and Braun, 1993): only the signs of the gradient count, so nothing has to be scaled.
void GaussianProcess::Adapt(int steps) {
  std::vector<double> sizes(theta_.size(), 0.2), gradient(theta_.size()), before(theta_.size(), 0.0), best = theta_;
  double best_density = -1e300;
  for (int step = 0; step < steps; ++step) {
    Factorise();
    const double density = Gradient(gradient);
    if (density > best_density) {
      best_density = density;
      best = theta_;
    }
    for (std::size_t k = 0; k < theta_.size(); ++k) {
      const double agreement = gradient[k] * before[k];
      if (agreement > 0) sizes[k] = std::min(1.0, 1.3 * sizes[k]);
      if (agreement < 0) sizes[k] = std::max(1e-3, 0.5 * sizes[k]);
      before[k] = agreement < 0 ? 0 : gradient[k];
      const double direction = before[k] > 0 ? 1 : before[k] < 0 ? -1 : 0;
      theta_[k] = std::clamp(theta_[k] + direction * sizes[k], kSmallest, kLargest);
    }
  }
  theta_ = best;
}

std::vector<double> GaussianProcess::InverseSquaredLengths() const {
  std::vector<double> weight;
  for (std::size_t d = 0; d < kinds_.size(); ++d) weight.push_back(std::exp(-2 * theta_[d]));
  return weight;
}

// Squared distances between a point and those before it, in units of the lengths.
void GaussianProcess::SetDistances(std::size_t point, const std::vector<double>& weight, std::vector<double>& distance) const {
  const std::size_t n = points_.size();
  std::fill(distance.begin(), distance.end(), 0.0);
  for (std::size_t d = 0; d < kinds_.size(); ++d) {
    const double* row = &differences_[(d * n + point) * n];
    for (std::size_t j = 0; j < point; ++j) distance[j] += weight[d] * row[j];
  }
}

// The lower triangle without the diagonal.
std::vector<double> GaussianProcess::Covariance() const {
  const std::size_t n = points_.size();
  const std::vector<double> weight = InverseSquaredLengths();
  const double amplitude = std::exp(theta_[kinds_.size()]);
  std::vector<double> covariance(n * n), distance(n);
  for (std::size_t i = 0; i < n; ++i) {
    SetDistances(i, weight, distance);
    for (std::size_t j = 0; j < i; ++j) covariance[i * n + j] = amplitude * Matern(distance[j]);
  }
  return covariance;
}

void GaussianProcess::Factorise() {
  const std::size_t n = points_.size();
  const double amplitude = std::exp(theta_[kinds_.size()]);
  const std::vector<double> covariance = Covariance();
  double jitter = std::exp(theta_[kinds_.size() + 1]) + 1e-8;
  do {
    factor_ = covariance;
    for (std::size_t i = 0; i < n; ++i) factor_[i * n + i] = amplitude + jitter;
    jitter *= 10;
  } while (!Cholesky(factor_, n));
  Invert();
  weights_.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) weights_[i] = Dot(targets_.data(), &inverse_[i * n], n);
}

// First the inverse of the factor, then the inverse of the covariance from it.
void GaussianProcess::Invert() {
  const std::size_t n = points_.size();
  std::vector<double> columns(n * n, 0.0);  // row j: column j of factor^-1
  for (std::size_t j = 0; j < n; ++j) {
    double* column = &columns[j * n];
    column[j] = 1 / factor_[j * n + j];
    for (std::size_t i = j + 1; i < n; ++i) {
      const double* row = &factor_[i * n];
      column[i] = -Dot(row + j, column + j, i - j) / row[i];
    }
  }
  inverse_.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = Dot(&columns[i * n] + i, &columns[j * n] + i, n - i);
      inverse_[i * n + j] = inverse_[j * n + i] = value;
    }
  }
}

// Returns the logarithm of the posterior density and sets its gradient by theta_. Rasmussen and Williams, equations 5.8 and 5.9.
double GaussianProcess::Gradient(std::vector<double>& gradient) const {
  const std::size_t n = points_.size(), dimensions = kinds_.size();
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double amplitude = std::exp(theta_[dimensions]), noise = std::exp(theta_[dimensions + 1]);
  const std::vector<double> weight = InverseSquaredLengths();
  std::vector<double> distance(n), common(n);
  double density = 0;
  for (std::size_t i = 0; i < n; ++i) {
    SetDistances(i, weight, distance);
    for (std::size_t j = 0; j < i; ++j) {
      const double outer = weights_[i] * weights_[j] - inverse_[i * n + j];
      gradient[dimensions] += outer * amplitude * Matern(distance[j]);
      common[j] = outer * amplitude * MaternSlope(distance[j]);
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
      gradient[d] += weight[d] * Dot(common.data(), &differences_[(d * n + i) * n], i);
    }
    const double diagonal = weights_[i] * weights_[i] - inverse_[i * n + i];
    gradient[dimensions] += 0.5 * diagonal * amplitude;
    gradient[dimensions + 1] += 0.5 * diagonal * noise;
    density -= 0.5 * targets_[i] * weights_[i] + std::log(factor_[i * n + i]);
  }
  for (std::size_t k = 0; k < theta_.size(); ++k) {
    const double expected = k < dimensions ? kLength : k == dimensions ? kAmplitude : kNoise;
    const double deviation = k < dimensions ? kLengthDeviation : k == dimensions ? kAmplitudeDeviation : kNoiseDeviation;
    const double off = (theta_[k] - expected) / deviation;
    density -= 0.5 * off * off;
    gradient[k] -= off / deviation;
  }
  return density;
}

double GaussianProcess::SquaredDistance(const Features& a, const Features& b, const std::vector<double>& weight) const {
  double distance = 0;
  for (std::size_t d = 0; d < kinds_.size(); ++d) distance += weight[d] * SquaredDifference(a[d], b[d], d);
  return distance;
}

double GaussianProcess::PriorCovariance(const Features& a, const Features& b) const {
  return std::exp(theta_[kinds_.size()]) * Matern(SquaredDistance(a, b, InverseSquaredLengths()));
}

double GaussianProcess::noise() const { return std::exp(theta_[kinds_.size() + 1]); }

std::vector<double> GaussianProcess::CovarianceWith(const Features& point) const {
  const std::vector<double> weight = InverseSquaredLengths();
  const double amplitude = std::exp(theta_[kinds_.size()]);
  std::vector<double> covariance;
  covariance.reserve(points_.size());
  for (const Features& other : points_) covariance.push_back(amplitude * Matern(SquaredDistance(other, point, weight)));
  return covariance;
}

std::vector<double> GaussianProcess::Solve(std::vector<double> right) const {
  const std::size_t n = points_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = &factor_[i * n];
    right[i] = (right[i] - Dot(row, right.data(), i)) / row[i];
  }
  return right;
}

std::vector<double> GaussianProcess::Whitened(const Features& point) const { return Solve(CovarianceWith(point)); }

double GaussianProcess::PredictMean(const Features& point) const {
  const std::vector<double> covariance = CovarianceWith(point);
  return shift_ + scale_ * Dot(covariance.data(), weights_.data(), covariance.size());
}

Estimate GaussianProcess::Predict(const Features& point) const {
  std::vector<double> covariance = CovarianceWith(point);
  const double mean = Dot(covariance.data(), weights_.data(), covariance.size());
  double variance = std::exp(theta_[kinds_.size()]);
  for (const double one : Solve(std::move(covariance))) variance -= one * one;
  return {shift_ + scale_ * mean, scale_ * std::sqrt(std::max(variance, 1e-12))};
}

std::vector<Estimate> GaussianProcess::LeaveOneOut() const {
  std::vector<Estimate> estimates;
  const std::size_t n = points_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double precision = inverse_[i * n + i];
    estimates.push_back({shift_ + scale_ * (targets_[i] - weights_[i] / precision), scale_ / std::sqrt(precision)});
  }
  return estimates;
}

}  // namespace evo
