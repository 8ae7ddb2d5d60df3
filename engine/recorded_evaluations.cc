#include "engine/recorded_evaluations.h"

#include <algorithm>
#include <utility>

namespace evo {

void RecordedEvaluations::AddTrial(Evaluation evaluation, std::optional<ChampionCheck> check) {
  if (evaluation.outcome != Outcome::kCancelled && !evaluation.source_digest.empty()) {
    Evaluation& trial = trials_[evaluation.source_digest].emplace_back(evaluation);
    trial.shared_run = 0;
    trial.shared_candidate = 0;
  }
  Add(std::move(evaluation), std::move(check));
}

void RecordedEvaluations::Add(Evaluation evaluation, std::optional<ChampionCheck> check) {
  if (evaluation.outcome == Outcome::kCancelled || evaluation.source_digest.empty()) return;
  if (check && check->outcome != Outcome::kCancelled) checks_[evaluation.source_digest] = std::move(*check);
  // The candidate that it was copied from is in another database.
  evaluation.shared_run = 0;
  evaluation.shared_candidate = 0;
  const auto [place, first] = evaluations_.try_emplace(evaluation.source_digest, evaluation);
  if (!first && place->second.outcome == Outcome::kNoisy) place->second = std::move(evaluation);
}

const Evaluation* RecordedEvaluations::Find(const std::string& source_digest, int measurement) const {
  if (const auto trials = trials_.find(source_digest); measurement > 0 && trials != trials_.end()) {
    return &trials->second.at(std::min(static_cast<std::size_t>(measurement), trials->second.size()) - 1);
  }
  const auto found = evaluations_.find(source_digest);
  return found == evaluations_.end() ? nullptr : &found->second;
}

const ChampionCheck* RecordedEvaluations::FindCheck(const std::string& source_digest) const {
  const auto found = checks_.find(source_digest);
  return found == checks_.end() ? nullptr : &found->second;
}

void RecordedEvaluations::AddCounted(const std::string& source_digest, int generation, CountedElite counted) {
  const auto [place, first] = counted_.try_emplace(source_digest, generation, counted);
  if (!first && generation < place->second.first) place->second = {generation, std::move(counted)};
}

const CountedElite* RecordedEvaluations::FindCounted(const std::string& source_digest, int generation) const {
  const auto found = counted_.find(source_digest);
  return found == counted_.end() || found->second.first > generation ? nullptr : &found->second.second;
}

}  // namespace evo
