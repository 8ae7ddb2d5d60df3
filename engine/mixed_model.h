#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/features.h"
#include "engine/gaussian_process.h"
#include "engine/regression_forest.h"

namespace evo {

// Two models of the same values, a Gaussian process and a forest, mixed by how well each predicts points that it was not fitted
// to. Deterministic.
class MixedModel {
 public:
  explicit MixedModel(const std::vector<FeatureKind>& kinds) : process_(kinds), forest_(kinds) {}

  // Fits both models, the process with `adapt` steps from its last fit. For each point the mean that the mixture estimates
  // without this point. Precondition: as many values as points, at least one.
  std::vector<double> Fit(const std::vector<Features>& points, std::span<const double> values, int adapt, std::uint64_t seed);
  Estimate Predict(const Features& point) const;
  // The mean of Predict, which costs a fraction of Predict if there are many points.
  double PredictMean(const Features& point) const;
  const GaussianProcess& process() const { return process_; }

 private:
  // The deviations are mixed like the means. The models' disagreement does not count as deviation: with it the search explored
  // more than was worth it.
  double Mix(double of_process, double of_forest) const { return share_ * of_process + (1 - share_) * of_forest; }

  GaussianProcess process_;
  RegressionForest forest_;
  double share_ = 0.5;  // weight of the process; the forest has the rest
};

}  // namespace evo
