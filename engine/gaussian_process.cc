#include "engine/gaussian_process.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace evo {
namespace {

// Logarithms of what is expected before anything is known, with how sure that is: coordinates from 0 to 1 matter over lengths
// about 1, the values have amplitude 1 and little noise. The priors are wide, and keep the lengths finite where a coordinate does
// not matter.
constexpr double kLength = 0.4, kLengthDeviation = 1.0;
constexpr double kAmplitude = 0.0, kAmplitudeDeviation = 1.0;
constexpr double kNoise = -5.0, kNoiseDeviation = 2.0;
// Of the logarithms; beyond them nothing changes but the condition of the matrix.
constexpr double kSmallest = -9.0, kLargest = 6.0;

const double kRoot5 = std::sqrt(5.0);

double Matern(double squared_distance) {
  const double r = kRoot5 * std::sqrt(squared_distance);
  return (1 + r + r * r / 3) * std::exp(-r);
}

// -2 d Matern / d (squared distance), which is what the gradient needs.
double MaternSlope(double squared_distance) {
  const double r = kRoot5 * std::sqrt(squared_distance);
  return 5.0 / 3.0 * (1 + r) * std::exp(-r);
}

// With four sums at a time, which the compiler may not invent by itself: three times as fast.
double Dot(const double* a, const double* b, std::size_t count) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// In place, the lower triangle; false if the matrix is not positive definite.
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
  const std::size_t n = points.size();
  points_ = points;
  shift_ = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double sum = 0;
  for (const double value : values) sum += (value - shift_) * (value - shift_);
  scale_ = std::max(std::sqrt(sum / static_cast<double>(n)), 1e-9);
  targets_.clear();
  for (const double value : values) targets_.push_back((value - shift_) / scale_);
  differences_.resize(kinds_.size() * n * n);
  for (std::size_t d = 0; d < kinds_.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) differences_[(d * n + i) * n + j] = SquaredDifference(points[i][d], points[j][d], d);
    }
  }
  // Resilient propagation (Riedmiller and Braun, 1993): only the signs of the gradient count, so nothing has to be scaled.
  std::vector<double> steps(theta_.size(), 0.2), gradient(theta_.size()), before(theta_.size(), 0.0), best = theta_;
  double best_density = -1e300;
  for (int step = 0; step < adapt; ++step) {
    Factorise();
    const double density = Gradient(gradient);
    if (density > best_density) {
      best_density = density;
      best = theta_;
    }
    for (std::size_t k = 0; k < theta_.size(); ++k) {
      const double agreement = gradient[k] * before[k];
      if (agreement > 0) steps[k] = std::min(1.0, 1.3 * steps[k]);
      if (agreement < 0) steps[k] = std::max(1e-3, 0.5 * steps[k]);
      before[k] = agreement < 0 ? 0 : gradient[k];
      const double direction = before[k] > 0 ? 1 : before[k] < 0 ? -1 : 0;
      theta_[k] = std::clamp(theta_[k] + direction * steps[k], kSmallest, kLargest);
    }
  }
  theta_ = best;
  Factorise();
}

void GaussianProcess::Factorise() {
  const std::size_t n = points_.size(), dimensions = kinds_.size();
  std::vector<double> weight;
  for (std::size_t d = 0; d < dimensions; ++d) weight.push_back(std::exp(-2 * theta_[d]));
  const double amplitude = std::exp(theta_[dimensions]);
  std::vector<double> covariance(n * n);
  double jitter = std::exp(theta_[dimensions + 1]) + 1e-8;
  std::vector<double> distance(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(distance.begin(), distance.end(), 0.0);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double* row = &differences_[(d * n + i) * n];
      for (std::size_t j = 0; j < i; ++j) distance[j] += weight[d] * row[j];
    }
    for (std::size_t j = 0; j < i; ++j) covariance[i * n + j] = amplitude * Matern(distance[j]);
  }
  do {
    factor_ = covariance;
    for (std::size_t i = 0; i < n; ++i) factor_[i * n + i] = amplitude + jitter;
    jitter *= 10;
  } while (!Cholesky(factor_, n));
  // The inverse of the factor, then that of the covariance.
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
  weights_.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) weights_[i] = Dot(targets_.data(), &inverse_[i * n], n);
}

// Of the logarithm of the posterior density, which is returned, by each element of theta_. Rasmussen and Williams, equations 5.8
// and 5.9.
double GaussianProcess::Gradient(std::vector<double>& gradient) {
  const std::size_t n = points_.size(), dimensions = kinds_.size();
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double amplitude = std::exp(theta_[dimensions]), noise = std::exp(theta_[dimensions + 1]);
  std::vector<double> weight;
  for (std::size_t d = 0; d < dimensions; ++d) weight.push_back(std::exp(-2 * theta_[d]));
  std::vector<double> distance(n), common(n);
  double density = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(distance.begin(), distance.end(), 0.0);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double* row = &differences_[(d * n + i) * n];
      for (std::size_t j = 0; j < i; ++j) distance[j] += weight[d] * row[j];
    }
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

std::vector<double> GaussianProcess::CovarianceWith(const Features& point) const {
  const std::size_t dimensions = kinds_.size();
  std::vector<double> weight;
  for (std::size_t d = 0; d < dimensions; ++d) weight.push_back(std::exp(-2 * theta_[d]));
  const double amplitude = std::exp(theta_[dimensions]);
  std::vector<double> covariance;
  covariance.reserve(points_.size());
  for (const Features& other : points_) {
    double distance = 0;
    for (std::size_t d = 0; d < dimensions; ++d) distance += weight[d] * SquaredDifference(other[d], point[d], d);
    covariance.push_back(amplitude * Matern(distance));
  }
  return covariance;
}

double GaussianProcess::PredictMean(const Features& point) const {
  const std::vector<double> covariance = CovarianceWith(point);
  return shift_ + scale_ * Dot(covariance.data(), weights_.data(), covariance.size());
}

Estimate GaussianProcess::Predict(const Features& point) const {
  const std::size_t n = points_.size();
  std::vector<double> covariance = CovarianceWith(point);
  const double mean = Dot(covariance.data(), weights_.data(), n);
  double variance = std::exp(theta_[kinds_.size()]);
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = &factor_[i * n];
    // From here on the element holds the solution of factor x = covariance.
    covariance[i] = (covariance[i] - Dot(row, covariance.data(), i)) / row[i];
    variance -= covariance[i] * covariance[i];
  }
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
