#include "engine/replay_evaluator.h"

#include <fmt/format.h>

#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "engine/reproduction.h"

namespace evo {

void ReplayEvaluator::Start(std::vector<Candidate> batch) {
  for (const Candidate& candidate : batch) {
    if (candidate.op != kDefault || recorded_.Find(Digest(candidate.source)) != nullptr) continue;
    throw Error(
        fmt::format("template {} at its defaults is not among the recorded evaluations; name with --template those that the "
                    "recorded runs had",
                    candidate.genome.template_name));
  }
  batches_.push_back(std::move(batch));
}

std::vector<Evaluation> ReplayEvaluator::Finish(std::stop_token stop, const Each& each) {
  std::vector<Evaluation> evaluations;
  const std::vector<Candidate> batch = std::move(batches_.front());
  batches_.pop_front();
  bool complete = true;
  for (const Candidate& candidate : batch) {
    const Evaluation* found = stop.stop_requested() ? nullptr : recorded_.Find(Digest(candidate.source), candidate.measurement);
    evaluations.push_back(found != nullptr ? *found : Evaluation{});
    if (found != nullptr)
      each(candidate, evaluations.back());
    else
      complete = false;
  }
  // An evaluator that stops drops everything that was started.
  if (!complete) batches_.clear();
  return evaluations;
}

ChampionCheck ReplayEvaluator::CheckAnswers(const Candidate& candidate, const Candidate&, const CheckEffort&, std::stop_token) {
  const ChampionCheck* found = recorded_.FindCheck(Digest(candidate.source));
  return found != nullptr ? *found : ChampionCheck{};
}

std::vector<CountedElite> ReplayEvaluator::Count(const std::vector<Candidate>& elites, int generation) {
  for (const Candidate& elite : elites) {
    if (!counted_.contains(elite.id) && !asked_.contains(elite.id)) asked_[elite.id] = Digest(elite.source);
  }
  std::vector<CountedElite> counted;
  std::erase_if(asked_, [&](const auto& one) {
    const CountedElite* found = recorded_.FindCounted(one.second, generation);
    if (found == nullptr) return false;
    counted.push_back(*found);
    counted.back().candidate = one.first;
    counted_.insert(one.first);
    return true;
  });
  return counted;
}

}  // namespace evo
