#include "engine/child_ranker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace evo {
namespace {

// With fewer evaluations the trust would be due to chance.
constexpr std::size_t kFewestEvaluations = 10;
// Octaves per unit of a parameter's coordinate: 16 and 256 are 1 apart, the width that a coordinate should have.
constexpr double kOctaves = 4.0;
// Edits of one operator per unit of the coordinate. The first edit says more than the next, so two are far from none.
constexpr double kEdits = 2.0;

double OnScale(std::int64_t value) {
  const auto number = static_cast<double>(value);
  return std::copysign(std::log2(1 + std::abs(number)), number) / kOctaves;
}

double DivisibilityOnScale(std::int64_t value) { return TimesDivisibleByTwo(value) / kOctaves; }

}  // namespace

ChildRanker::ChildRanker(const std::vector<Genome>& seeds, std::vector<std::string> operators, std::uint64_t seed)
    : operators_(std::move(operators)), seed_(seed) {
  std::set<std::string> names;
  for (const Genome& one : seeds) {
    templates_.push_back(one.template_name);
    for (const auto& [name, value] : one.parameters) names.insert(name);
  }
  parameters_.assign(names.begin(), names.end());
  std::sort(operators_.begin(), operators_.end());
  divisibility_tells_.assign(parameters_.size(), false);
}

std::vector<FeatureKind> ChildRanker::Kinds() const {
  std::vector<FeatureKind> kinds(1 + 2 * parameters_.size() + operators_.size(), FeatureKind::kOrdinal);
  kinds.front() = FeatureKind::kCategorical;
  return kinds;
}

Features ChildRanker::AllFeaturesOf(const Genome& genome) const {
  Features features;
  const auto place = std::find(templates_.begin(), templates_.end(), genome.template_name);
  features.push_back(static_cast<double>(place - templates_.begin()));
  for (const auto& scaled : {OnScale, DivisibilityOnScale}) {
    for (const std::string& name : parameters_) {
      const auto value = genome.parameters.find(name);
      features.push_back(value == genome.parameters.end() ? 0 : scaled(value->second));
    }
  }
  for (const std::string& op : operators_) {
    const auto count = std::count_if(genome.edits.begin(), genome.edits.end(), [&](const Edit& edit) { return edit.op == op; });
    features.push_back(static_cast<double>(count) / kEdits);
  }
  return features;
}

// What one kind of coordinate says already is 0 in the other, where it changes no distance.
Features ChildRanker::WithoutEmpty(Features features) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!divisibility_tells_[i]) features[1 + parameters_.size() + i] = 0;
  }
  return features;
}

Features ChildRanker::FeaturesOf(const Genome& genome) const { return WithoutEmpty(AllFeaturesOf(genome)); }

void ChildRanker::Await(const Genome& genome) { awaited_.push_back(genome); }

void ChildRanker::Learn(const Genome& genome, const Evaluation& evaluation) {
  const auto awaited = std::find(awaited_.begin(), awaited_.end(), genome);
  if (awaited != awaited_.end()) awaited_.erase(awaited);
  if (evaluation.outcome == Outcome::kCancelled) return;
  for (const auto& [name, value] : genome.parameters) values_[name].insert(value);
  Genome& learnt = learnt_.emplace_back();
  learnt.template_name = genome.template_name;
  learnt.parameters = genome.parameters;
  for (const Edit& edit : genome.edits) learnt.edits.emplace_back().op = edit.op;
  times_ns_.push_back(evaluation.outcome == Outcome::kOk ? std::optional(evaluation.score_ns) : std::nullopt);
}

void ChildRanker::Fit() {
  surrogate_.reset();
  if (learnt_.size() < kFewestEvaluations) return;
  std::set<std::string> names(parameters_.begin(), parameters_.end());
  for (const auto& [name, values] : values_) names.insert(name);
  parameters_.assign(names.begin(), names.end());
  divisibility_tells_.assign(parameters_.size(), false);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::set<std::int64_t>& values = values_[parameters_[i]];
    divisibility_tells_[i] = DivisibilityTells(std::vector(values.begin(), values.end()));
  }
  // A new surrogate each time: one that starts from the last fit would depend on how often the run was resumed.
  surrogate_.emplace(Kinds(), seed_);
  for (std::size_t i = 0; i < learnt_.size(); ++i) surrogate_->Learn(FeaturesOf(learnt_[i]), times_ns_[i]);
  surrogate_->Fit(Surrogate::kStepsFromAnew);
}

int ChildRanker::ToBreed(int wanted) const {
  return SurrogateShare(trust()) > 0 ? std::max(kLeastBred, kBredForEach * wanted) : wanted;
}

std::vector<std::size_t> ChildRanker::Choose(std::span<const Genome> children, std::size_t wanted) const {
  std::vector<std::size_t> all(children.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (children.size() <= wanted) return all;
  std::set<std::size_t> chosen;
  const auto by_rank = static_cast<std::size_t>(std::lround(SurrogateShare(trust()) * static_cast<double>(wanted)));
  if (by_rank > 0) {
    std::vector<Features> points, pending;
    for (const Genome& child : children) points.push_back(FeaturesOf(child));
    for (const Genome& genome : awaited_) pending.push_back(FeaturesOf(genome));
    for (const std::size_t place : surrogate_->MostPromising(points, by_rank, pending)) chosen.insert(place);
  }
  for (std::size_t place = 0; chosen.size() < wanted; ++place) chosen.insert(place);
  return {chosen.begin(), chosen.end()};
}

}  // namespace evo
