#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/gaussian_process.h"

namespace evo {

// Chooses several points at once: each chosen point is believed to be measured already, with its mean as the result (the "kriging
// believer" of Ginsbourger, Le Riche and Carraro, 2010). Means stay as they are then, and deviations fall near the point, so that
// the next choice lies elsewhere.
class Believer {
 public:
  // `process` outlives this. Precondition: it was fitted.
  Believer(const GaussianProcess& process, std::span<const Features> points);

  void Believe(std::size_t point);
  // The deviation of a point now over that at the start, 1 to 0.
  double Remaining(std::size_t point) const;

 private:
  struct Point {
    Features features;
    std::vector<double> known;  // GaussianProcess::Whitened, then one element for each point believed
    double variance_before = 0;
    double variance = 0;
  };

  const GaussianProcess& process_;
  std::vector<Point> points_;
};

}  // namespace evo
