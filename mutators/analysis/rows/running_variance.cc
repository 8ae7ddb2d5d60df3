#include "mutators/analysis/rows/running_variance.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "mutators/analysis/numbers/body_trial.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

constexpr int kVarianceTrials = 40;
// Relative; the numbers are doubles.
constexpr double kVarianceTolerance = 1e-9;

bool IsNear(double a, double b) { return std::fabs(a - b) <= kVarianceTolerance * (1 + std::fabs(b)); }

// Whether a body makes of the three numbers what Welford's step makes of them and of one of the values that it reads, always the
// same one.
bool IsStep(BodyTrial& trial, const RunningVariance& variance, int counter) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> means(-3, 3), sums(0.5, 4);
  std::set<std::string> values;
  for (int i = 0; i < kVarianceTrials; ++i) {
    const int n = i % 8;
    const double mean = n == 0 ? 0 : means(random), squares = n <= 1 ? 0 : sums(random);
    std::map<int, double> before{{variance.mean, mean}, {variance.squares, squares}};
    before[variance.count < 0 ? counter : variance.count] = n;
    if (!trial.Run(before, random, std::nullopt)) return false;
    if (variance.count >= 0 && trial.Of(variance.count) != n + 1) return false;
    std::set<std::string> fitting;
    for (const auto& [spelled, x] : trial.values()) {
      const double after = mean + (x - mean) / (n + 1);
      const bool fits =
          IsNear(trial.Of(variance.mean), after) && IsNear(trial.Of(variance.squares), squares + (x - mean) * (x - after));
      if (fits && (i == 0 || values.contains(spelled))) fitting.insert(spelled);
    }
    values = std::move(fitting);
    if (values.empty()) return false;
  }
  return true;
}

}  // namespace

std::optional<RunningVariance> AsRunningVariance(const SyntaxTree& tree, const CountedLoop& loop) {
  const bool turns = loop.comparison == "<" && loop.step == "1" && tree.Text(loop.start) == "0";
  BodyTrial trial(tree, loop.parts.body, loop.counter);
  std::vector<int> changed = trial.Changed();
  if (changed.size() != 3 && (changed.size() != 2 || !turns)) return std::nullopt;
  for (const int variable : changed) {
    const SyntaxNode& node = tree.node(variable);
    const bool number = IsRealType(node.type) || node.type == "int" || node.type == "unsigned int";
    if (node.kind_name != "VarDecl" || !number || IsMemoryName(tree, variable)) return std::nullopt;
  }
  std::sort(changed.begin(), changed.end());
  do {
    const RunningVariance variance{changed[0], changed[1], changed.size() == 3 ? changed[2] : -1, {}};
    if (!IsRealType(tree.node(variance.mean).type) || tree.node(variance.mean).type != tree.node(variance.squares).type) continue;
    BodyTrial tried(tree, loop.parts.body, variance.count < 0 ? loop.counter : -1);
    if (!IsStep(tried, variance, loop.counter)) continue;
    RunningVariance found = variance;
    if (variance.count < 0) found.counted = tried.counted();
    return found;
  } while (std::next_permutation(changed.begin(), changed.end()));
  return std::nullopt;
}

}  // namespace evo
