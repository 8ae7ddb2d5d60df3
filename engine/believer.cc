#include "engine/believer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evo {
namespace {

// Below it a variance is rounding error.
constexpr double kLeastVariance = 1e-12;

}  // namespace

Believer::Believer(const GaussianProcess& process, std::span<const Features> points) : process_(process) {
  for (const Features& features : points) {
    Point& point = points_.emplace_back(features, process.Whitened(features));
    const double explained = std::inner_product(point.known.begin(), point.known.end(), point.known.begin(), 0.0);
    point.variance = std::max(kLeastVariance, process.PriorCovariance(features, features) - explained);
    point.variance_before = point.variance;
  }
}

// One more row of Cholesky's factor, for all points.
void Believer::Believe(std::size_t believed) {
  const Point chosen = points_[believed];
  const double deviation = std::sqrt(chosen.variance + process_.noise());
  for (Point& point : points_) {
    const double explained = std::inner_product(point.known.begin(), point.known.end(), chosen.known.begin(), 0.0);
    const double covariance = process_.PriorCovariance(point.features, chosen.features) - explained;
    point.known.push_back(covariance / deviation);
    point.variance = std::max(kLeastVariance, point.variance - point.known.back() * point.known.back());
  }
}

double Believer::Remaining(std::size_t point) const {
  return std::sqrt(points_[point].variance / points_[point].variance_before);
}

}  // namespace evo
