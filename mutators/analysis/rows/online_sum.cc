#include "mutators/analysis/rows/online_sum.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "mutators/analysis/numbers/body_trial.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

// How often a body runs; in some runs all values are as large as the largest so far.
constexpr int kBodyTrials = 40;
constexpr int kEveryEqual = 8;
// Relative; the numbers are doubles.
constexpr double kOnlineTolerance = 1e-9;

// Whether a body makes of a pair what the rule makes of it and of one of the values that it reads, always the same one.
bool IsOnline(BodyTrial& trial, int top, int sum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> tops(-3, 3), sums(0.5, 4);
  std::set<std::string> values;
  for (int i = 0; i < kBodyTrials; ++i) {
    const double m = tops(random), s = sums(random);
    if (!trial.Run({{top, m}, {sum, s}}, random, i < kEveryEqual ? std::optional(m) : std::nullopt)) return false;
    // None where all values are equal and it says 1 for the exponential of 0.
    if (trial.exponentials().size() > 1) return false;
    const bool two = !trial.exponentials().empty() && trial.exponentials().begin()->starts_with("exp2");
    const auto exponential = [&](double x) { return two ? std::exp2(x) : std::exp(x); };
    std::set<std::string> fitting;
    for (const auto& [spelled, x] : trial.values()) {
      const double largest = std::max(m, x), expected = s * exponential(m - largest) + exponential(x - largest);
      const bool fits = trial.Of(top) == largest && std::fabs(trial.Of(sum) - expected) <= kOnlineTolerance * expected;
      if (fits && (i == 0 || values.contains(spelled))) fitting.insert(spelled);
    }
    values = std::move(fitting);
    if (values.empty()) return false;
  }
  return trial.exponentials().size() == 1;
}

}  // namespace

std::optional<OnlineSum> AsOnlineSum(const SyntaxTree& tree, const CountedLoop& loop) {
  BodyTrial trial(tree, loop.parts.body);
  const std::vector<int> changed = trial.Changed();
  if (changed.size() != 2) return std::nullopt;
  for (const int variable : changed) {
    const SyntaxNode& node = tree.node(variable);
    if (node.kind_name != "VarDecl" || !IsRealType(node.type) || node.type != tree.node(changed[0]).type) return std::nullopt;
    if (IsMemoryName(tree, variable)) return std::nullopt;
  }
  for (const bool first : {true, false}) {
    const int top = changed[first ? 0 : 1], sum = changed[first ? 1 : 0];
    if (IsOnline(trial, top, sum)) return OnlineSum{top, sum, tree.node(top).type, *trial.exponentials().begin()};
  }
  return std::nullopt;
}

}  // namespace evo
