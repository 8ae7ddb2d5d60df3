#include "engine/study.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

namespace evo {
namespace {

// Precondition: values is not empty, quantile from 0 to 1.
double Quantile(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  const double place = quantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StandardError(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (count < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace

std::vector<int> Checkpoints(int evaluations) {
  std::vector<int> checkpoints;
  for (const int usual : {20, 50, 100, 200}) {
    if (usual < evaluations) checkpoints.push_back(usual);
  }
  checkpoints.push_back(evaluations);
  return checkpoints;
}

std::vector<StudyPoint> Study(const Landscape& landscape, int evaluations, const SeededSearch& search, std::uint64_t first_seed,
                              int seeds, int threads, const std::function<bool()>& cancelled) {
  const std::vector<int> checkpoints = Checkpoints(evaluations);
  // By checkpoint and seed. Every search writes its own elements.
  std::vector<std::vector<double>> reached(checkpoints.size(), std::vector<double>(static_cast<std::size_t>(seeds), 0.0));
  std::atomic<int> next{0};
  std::atomic<bool> stopped{false};
  const auto work = [&] {
    for (int i = next++; i < seeds && !stopped; i = next++) {
      if (cancelled && cancelled()) stopped = true;
      const std::vector<std::size_t> order = search(first_seed + static_cast<std::uint64_t>(i));
      for (std::size_t c = 0; c < checkpoints.size(); ++c) {
        reached[c][static_cast<std::size_t>(i)] =
            landscape.optimum / BestOf(landscape, order, static_cast<std::size_t>(checkpoints[c]));
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int t = 1; t < std::min(threads, seeds); ++t) workers.emplace_back(work);
    work();
  }
  std::vector<StudyPoint> points;
  for (std::size_t c = 0; c < checkpoints.size() && !stopped; ++c) {
    points.push_back(
        {checkpoints[c], Mean(reached[c]), StandardError(reached[c]), Quantile(reached[c], 0.1), std::move(reached[c])});
  }
  return points;
}

std::vector<StudyPoint> Study(const Landscape& landscape, const LandscapeSearchOptions& search, int seeds, int threads,
                              const std::function<bool()>& cancelled) {
  const auto one = [&](std::uint64_t seed) {
    LandscapeSearchOptions options = search;
    options.seed = seed;
    return SearchLandscape(landscape, options);
  };
  return Study(landscape, search.evaluations, one, search.seed, seeds, threads, cancelled);
}

}  // namespace evo
