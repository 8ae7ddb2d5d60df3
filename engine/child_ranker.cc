#include "engine/child_ranker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace evo {
namespace {

// With fewer evaluations the trust would be due to chance.
constexpr std::size_t kFewestEvaluations = 6;

}  // namespace

ChildRanker::ChildRanker(const std::vector<Genome>& seeds, std::vector<std::string> operators, std::uint64_t seed)
    : features_(seeds, std::move(operators)), seed_(seed) {}

void ChildRanker::Await(const Genome& genome) { awaited_.push_back(genome); }

void ChildRanker::Learn(const Genome& genome, const Evaluation& evaluation) {
  const auto awaited = std::find(awaited_.begin(), awaited_.end(), genome);
  if (awaited != awaited_.end()) awaited_.erase(awaited);
  if (evaluation.outcome == Outcome::kCancelled) return;
  features_.Learn(genome.parameters);
  Genome& learnt = learnt_.emplace_back();
  learnt.template_name = genome.template_name;
  learnt.parameters = genome.parameters;
  for (const Edit& edit : genome.edits) learnt.edits.emplace_back().op = edit.op;
  times_ns_.push_back(evaluation.outcome == Outcome::kOk ? std::optional(evaluation.score_ns) : std::nullopt);
}

void ChildRanker::Fit() {
  surrogate_.reset();
  if (learnt_.size() < kFewestEvaluations) return;
  features_.Update();
  // A new surrogate each time: one that starts from the last fit would depend on how often the run was resumed.
  surrogate_.emplace(features_.Kinds(), seed_);
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
