#include "engine/regression_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evo {
namespace {

// A node with fewer points than this is a leaf.
constexpr std::size_t kSmallestSplit = 3;

Estimate Summarise(std::span<const double> values) {
  if (values.empty()) return {0, 0};
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return {mean, std::sqrt(sum / count)};
}

}  // namespace

void RegressionForest::Fit(const std::vector<Features>& points, std::span<const double> values, std::uint64_t seed) {
  points_ = points;
  values_.assign(values.begin(), values.end());
  trees_.assign(static_cast<std::size_t>(tree_count_), {});
  in_bag_.assign(trees_.size(), std::vector<bool>(points.size(), false));
  std::vector<std::size_t> sample(points.size());
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    Rng rng(seed, points.size(), t);
    for (std::size_t& one : sample) {
      one = rng.Below(points.size());
      in_bag_[t][one] = true;
    }
    trees_[t].emplace_back();
    Grow(trees_[t], 0, sample, rng);
  }
}

bool RegressionForest::GoesLeft(const Node& node, const Features& point) const {
  const auto d = static_cast<std::size_t>(node.coordinate);
  return kinds_[d] == FeatureKind::kOrdinal ? point[d] <= node.cut : point[d] == node.cut;
}

// Draws one random cut for each coordinate and takes the one that leaves the smallest sum of squares.
void RegressionForest::Grow(Tree& tree, std::size_t node, std::span<std::size_t> sample, Rng& rng) const {
  double sum = 0;
  for (const std::size_t i : sample) sum += values_[i];
  tree[node].value = sum / static_cast<double>(sample.size());
  if (sample.size() < kSmallestSplit) return;
  Node best;
  double best_gain = 1e-12;
  for (std::size_t d = 0; d < kinds_.size(); ++d) {
    const auto [low, high] = std::minmax_element(sample.begin(), sample.end(),
                                                 [&](std::size_t a, std::size_t b) { return points_[a][d] < points_[b][d]; });
    const double least = points_[*low][d], most = points_[*high][d];
    if (least == most) continue;
    Node cut;
    cut.coordinate = static_cast<int>(d);
    cut.cut = kinds_[d] == FeatureKind::kOrdinal ? least + rng.Uniform() * (most - least)
                                                 : points_[sample[rng.Below(sample.size())]][d];
    double left = 0, count = 0;
    for (const std::size_t i : sample) {
      if (!GoesLeft(cut, points_[i])) continue;
      left += values_[i];
      ++count;
    }
    const double others = static_cast<double>(sample.size()) - count;
    if (count == 0 || others == 0) continue;
    const double gain =
        left * left / count + (sum - left) * (sum - left) / others - sum * sum / static_cast<double>(sample.size());
    if (gain <= best_gain) continue;
    best_gain = gain;
    best = cut;
  }
  if (best.coordinate < 0) return;
  const auto middle = std::partition(sample.begin(), sample.end(), [&](std::size_t i) { return GoesLeft(best, points_[i]); });
  const auto left_size = static_cast<std::size_t>(middle - sample.begin());
  best.value = tree[node].value;
  best.left = tree.size();
  best.right = best.left + 1;
  tree[node] = best;
  tree.resize(tree.size() + 2);
  Grow(tree, best.left, sample.first(left_size), rng);
  Grow(tree, best.right, sample.subspan(left_size), rng);
}

double RegressionForest::ValueAt(const Tree& tree, const Features& point) const {
  const Node* node = &tree.front();
  while (node->coordinate >= 0) node = &tree[GoesLeft(*node, point) ? node->left : node->right];
  return node->value;
}

Estimate RegressionForest::Predict(const Features& point) const {
  std::vector<double> values;
  for (const Tree& tree : trees_) values.push_back(ValueAt(tree, point));
  return Summarise(values);
}

std::vector<Estimate> RegressionForest::OutOfBag() const {
  const Estimate all = Summarise(values_);
  std::vector<Estimate> estimates;
  std::vector<double> values;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    values.clear();
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      if (!in_bag_[t][i]) values.push_back(ValueAt(trees_[t], points_[i]));
    }
    estimates.push_back(values.empty() ? all : Summarise(values));
  }
  return estimates;
}

}  // namespace evo
