#include "evaluator/scheduling/race_bounds.h"

#include <algorithm>

namespace evo {
namespace {

// A candidate this many times slower than the fastest may still be a parent, but never the champion: measuring it may end early.
constexpr double kPruneFactor = 1.25;
// A candidate that is certainly this many times slower has lost, too, and is measured only as well as a parent needs.
constexpr double kDecidedFactor = 1.03;

}  // namespace

void RaceBounds::Learn(const Evaluation& evaluation) {
  for (const CaseMeasurement& measured : evaluation.cases) {
    double& best = best_case_ns_.try_emplace(measured.name, measured.median_ns).first->second;
    best = std::min(best, measured.median_ns);
  }
  const Counterexample& counterexample = evaluation.counterexample;
  if (!counterexample.case_name.empty()) ++kills_[{counterexample.case_name, counterexample.generator}];
}

std::map<std::string, CaseBounds> RaceBounds::ByCase() const {
  std::map<std::string, CaseBounds> bounds;
  for (const auto& [name, best] : best_case_ns_) bounds[name] = {kPruneFactor * best, kDecidedFactor * best};
  return bounds;
}

std::optional<CaseInputs> RaceBounds::DeadliestInputs() const {
  const auto most =
      std::max_element(kills_.begin(), kills_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == kills_.end()) return std::nullopt;
  return CaseInputs{most->first.first, most->first.second};
}

}  // namespace evo
