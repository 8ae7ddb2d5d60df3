#include "evaluator/scheduling/race_bounds.h"

#include <algorithm>

namespace evo {
namespace {

// A candidate this many times slower than the fastest may still be a parent, but never the champion: measuring it may end early.
constexpr double kPruneFactor = 1.25;
// A candidate that is certainly this many times slower has lost, too, and is measured only as well as a parent needs.
constexpr double kDecidedFactor = 1.03;

// Whatever the seed.
bool IsSame(const Counterexample& a, const Counterexample& b) {
  return a.case_name == b.case_name && a.generator == b.generator && a.inputs == b.inputs;
}

}  // namespace

void RaceBounds::Learn(const Evaluation& evaluation) {
  for (const CaseMeasurement& measured : evaluation.cases) {
    double& best = best_case_ns_.try_emplace(measured.name, measured.median_ns).first->second;
    best = std::min(best, measured.median_ns);
  }
  Learn(evaluation.counterexample);
}

void RaceBounds::Learn(const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) return;
  Kills& kills = kills_[{counterexample.case_name, counterexample.generator, counterexample.inputs}];
  if (kills.count++ == 0) kills.inputs = counterexample;
}

void RaceBounds::LearnMissed(const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) return;
  std::erase_if(missed_, [&](const Counterexample& one) { return IsSame(one, counterexample); });
  missed_.insert(missed_.begin(), counterexample);
  if (missed_.size() > kMissed) missed_.pop_back();
}

std::map<std::string, CaseBounds> RaceBounds::ByCase() const {
  std::map<std::string, CaseBounds> bounds;
  for (const auto& [name, best] : best_case_ns_) bounds[name] = {kPruneFactor * best, kDecidedFactor * best, best};
  return bounds;
}

std::vector<Counterexample> RaceBounds::InputsToTryFirst() const {
  std::vector<const Kills*> all;
  for (const auto& [key, kills] : kills_) all.push_back(&kills);
  std::stable_sort(all.begin(), all.end(), [](const Kills* a, const Kills* b) { return a->count > b->count; });
  std::vector<Counterexample> first = missed_;
  if (all.size() > kDeadliest) all.resize(kDeadliest);
  for (const Kills* kills : all) {
    const bool there =
        std::any_of(missed_.begin(), missed_.end(), [&](const Counterexample& one) { return IsSame(one, kills->inputs); });
    if (!there) first.push_back(kills->inputs);
  }
  return first;
}

}  // namespace evo
