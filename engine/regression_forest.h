#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "engine/features.h"
#include "engine/gaussian_process.h"

namespace evo {

// Regression by a forest of trees with random cuts (Geurts, Ernst and Wehenkel, 2006). Each tree is grown on a sample with
// replacement, so that every point has trees that were grown without it. A cut parts one value of a categorical coordinate from
// the others.
class RegressionForest {
 public:
  static constexpr int kTrees = 60;

  explicit RegressionForest(std::vector<FeatureKind> kinds, int trees = kTrees) : kinds_(std::move(kinds)), tree_count_(trees) {}

  // Deterministic given the seed. Precondition: as many values as points, at least one.
  void Fit(const std::vector<Features>& points, std::span<const double> values, std::uint64_t seed);
  // Mean and deviation of the trees' values.
  Estimate Predict(const Features& point) const;
  // For each fitted point, the estimate of the trees that were grown without it.
  std::vector<Estimate> OutOfBag() const;

 private:
  struct Node {
    int coordinate = -1;  // -1: a leaf
    double cut = 0;       // goes left: an ordinal value up to this, a categorical value equal to this
    std::size_t left = 0, right = 0;
    double value = 0;  // of a leaf
  };
  using Tree = std::vector<Node>;

  void Grow(Tree& tree, std::size_t node, std::span<std::size_t> sample, Rng& rng) const;
  bool GoesLeft(const Node& node, const Features& point) const;
  double ValueAt(const Tree& tree, const Features& point) const;

  std::vector<FeatureKind> kinds_;
  int tree_count_;
  std::vector<Features> points_;
  std::vector<double> values_;
  std::vector<Tree> trees_;
  std::vector<std::vector<bool>> in_bag_;  // by tree and point: whether the tree was grown with it
};

}  // namespace evo
