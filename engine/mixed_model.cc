#include "engine/mixed_model.h"

#include <cstddef>

namespace evo {
namespace {

double MeanSquare(std::span<const Estimate> estimates, std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += (estimates[i].mean - values[i]) * (estimates[i].mean - values[i]);
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<double> MixedModel::Fit(const std::vector<Features>& points, std::span<const double> values, int adapt,
                                    std::uint64_t seed) {
  process_.Fit(points, values, adapt);
  forest_.Fit(points, values, seed);
  const std::vector<Estimate> by_process = process_.LeaveOneOut(), by_forest = forest_.OutOfBag();
  const double process_error = MeanSquare(by_process, values), forest_error = MeanSquare(by_forest, values);
  // Weights in inverse proportion to the squares of the errors: between the average of the two models and the better one.
  const double squares = process_error * process_error + forest_error * forest_error;
  share_ = squares > 0 ? forest_error * forest_error / squares : 0.5;
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i) means.push_back(Mix(by_process[i].mean, by_forest[i].mean));
  return means;
}

Estimate MixedModel::Predict(const Features& point) const {
  const Estimate by_process = process_.Predict(point), by_forest = forest_.Predict(point);
  return {Mix(by_process.mean, by_forest.mean), Mix(by_process.deviation, by_forest.deviation)};
}

double MixedModel::PredictMean(const Features& point) const {
  return Mix(process_.PredictMean(point), forest_.Predict(point).mean);
}

}  // namespace evo
