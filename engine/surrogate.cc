#include "engine/surrogate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/believer.h"

namespace evo {
namespace {

// Points that are fitted at most. The cost of a fit grows with the cube of their number.
constexpr std::size_t kMostPoints = 300;
// The process's parameters change little from one point to the next. After the first points they are adapted at every fifth only.
constexpr std::size_t kAdaptAlways = 40, kAdaptEvery = 5;
constexpr int kAdaptSteps = 8;
// If there are more points than twice this, so many with the fastest means and as many of the others are ranked.
constexpr std::size_t kShortList = 128;
// The smallest probability of running that is assumed, however sure the model is that a candidate fails.
constexpr double kLeastChance = 0.02;
// With this trust and more, the surrogate's choices are clearly better than bred children.
constexpr double kFullTrust = 0.3;
constexpr double kLargestShare = 0.95;

std::vector<double> Ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = 0.5 * static_cast<double>(first + last - 1);
    first = last;
  }
  return ranks;
}

// Expected amount by which a normal variable falls below `best` (Jones, Schonlau and Welch, 1998).
double ExpectedImprovement(const Estimate& estimate, double best) {
  const double gain = best - estimate.mean, deviation = std::max(estimate.deviation, 1e-9), z = gain / deviation;
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return gain * below + deviation * density;
}

}  // namespace

double RankCorrelation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = Ranks(a), y = Ranks(b);
  const double mean = 0.5 * (static_cast<double>(a.size()) - 1);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double SurrogateShare(double trust) { return std::clamp(trust / kFullTrust, 0.0, kLargestShare); }

Surrogate::Surrogate(const std::vector<FeatureKind>& kinds, std::uint64_t seed) : seed_(seed), model_(kinds), chance_(kinds) {}

void Surrogate::Learn(Features point, std::optional<double> time) {
  if (time) {
    ok_points_.push_back(point);
    log_times_.push_back(std::log(*time));
  }
  points_.push_back(std::move(point));
  ok_.push_back(time ? 1.0 : 0.0);
}

// Half of the points to fit are the fastest of all. The other half are the latest of the rest.
void Surrogate::Subset(std::vector<Features>& points, std::vector<double>& log_times) const {
  points = ok_points_;
  log_times = log_times_;
  if (points.size() <= kMostPoints) return;
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + kMostPoints / 2;
  std::partial_sort(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return log_times_[a] < log_times_[b] || (log_times_[a] == log_times_[b] && a < b);
  });
  std::sort(middle, order.end(), std::greater<>());
  order.resize(kMostPoints);
  std::sort(order.begin(), order.end());
  points.clear();
  log_times.clear();
  for (const std::size_t i : order) {
    points.push_back(ok_points_[i]);
    log_times.push_back(log_times_[i]);
  }
}

void Surrogate::Fit(std::optional<int> steps) {
  trust_ = 0;
  if (some_failed()) chance_.Fit(points_, ok_, seed_ + 1);
  if (!ready()) return;
  best_ = *std::min_element(log_times_.begin(), log_times_.end());
  std::vector<Features> points;
  std::vector<double> log_times;
  Subset(points, log_times);
  const bool adapt = log_times_.size() < kAdaptAlways || log_times_.size() % kAdaptEvery == 0;
  const std::vector<double> predicted = model_.Fit(points, log_times, steps.value_or(adapt ? kAdaptSteps : 0), seed_);
  // The standard deviation of the correlation of unrelated values.
  const double by_chance = 1 / std::sqrt(static_cast<double>(log_times.size()) - 1);
  trust_ = std::max(0.0, RankCorrelation(predicted, log_times) - by_chance);
}

Expectation Surrogate::Expect(const Features& point) const {
  Expectation expectation;
  if (some_failed()) expectation.ok = std::max(kLeastChance, chance_.Predict(point).mean);
  if (!ready()) return expectation;
  expectation.log_time = model_.Predict(point);
  expectation.improvement = expectation.ok * ExpectedImprovement(expectation.log_time, best_);
  return expectation;
}

// All, or those with the fastest means and a sample of the others.
std::vector<std::size_t> Surrogate::ShortList(std::span<const Features> points, std::size_t count) const {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t shortened = std::max(kShortList, count);
  if (!ready() || points.size() <= 2 * shortened) return order;
  std::vector<double> means;
  for (const Features& point : points) means.push_back(model_.PredictMean(point));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return means[a] < means[b] || (means[a] == means[b] && a < b); });
  const std::size_t stride = (order.size() - shortened) / shortened;
  for (std::size_t i = 0; i < shortened; ++i) order[shortened + i] = order[shortened + i * stride];
  order.resize(2 * shortened);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<std::size_t> Surrogate::MostPromising(std::span<const Features> points, std::size_t count,
                                                  std::span<const Features> pending) const {
  std::vector<std::size_t> listed = ShortList(points, count);
  std::vector<Expectation> expected;
  for (const std::size_t i : listed) expected.push_back(Expect(points[i]));
  if (!ready()) {
    std::vector<std::size_t> order(listed.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return expected[a].ok > expected[b].ok; });
    order.resize(std::min(order.size(), count));
    for (std::size_t& i : order) i = listed[i];
    return order;
  }
  std::vector<Features> together(pending.begin(), pending.end());
  if (count > 1 || !pending.empty()) {  // otherwise nothing is believed
    for (const std::size_t i : listed) together.push_back(points[i]);
  }
  Believer believer(model_.process(), together);
  for (std::size_t i = 0; i < pending.size(); ++i) believer.Believe(i);
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(listed.size(), false);
  while (chosen.size() < std::min(count, listed.size())) {
    double greatest = -1;
    std::size_t place = 0;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (taken[i]) continue;
      const Estimate& estimate = expected[i].log_time;
      const double remaining = together.empty() ? 1 : believer.Remaining(pending.size() + i);
      const double improvement = expected[i].ok * ExpectedImprovement({estimate.mean, estimate.deviation * remaining}, best_);
      if (improvement <= greatest) continue;
      greatest = improvement;
      place = i;
    }
    taken[place] = true;
    chosen.push_back(listed[place]);
    if (chosen.size() == count) break;
    believer.Believe(pending.size() + place);
  }
  return chosen;
}

}  // namespace evo
