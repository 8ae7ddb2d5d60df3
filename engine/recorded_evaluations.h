#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluator.h"

namespace evo {

// The results of earlier runs, by the digest of a candidate's source.
class RecordedEvaluations {
 public:
  // Of several evaluations of one source the first that is not noisy counts, or the first if all are; cancelled ones are left
  // out. Of several champion checks of one source the last counts.
  void Add(Evaluation evaluation, std::optional<ChampionCheck> check = {});
  // The same for a trial of a minimisation, which is a measurement of its own even if the source was evaluated before.
  void AddTrial(Evaluation evaluation, std::optional<ChampionCheck> check = {});

  // Null if there is none. `measurement` says which of the source's trials, from 1; if there are fewer, the last, or the first
  // evaluation if there is no trial.
  const Evaluation* Find(const std::string& source_digest, int measurement = 0) const;
  const ChampionCheck* FindCheck(const std::string& source_digest) const;
  // A candidate with this source was counted until this generation was finished. Of several the earliest counts.
  void AddCounted(const std::string& source_digest, int generation, CountedElite counted);
  // Null if it was not counted until then.
  const CountedElite* FindCounted(const std::string& source_digest, int generation) const;
  std::size_t size() const { return evaluations_.size(); }

 private:
  std::map<std::string, Evaluation> evaluations_;
  std::map<std::string, std::vector<Evaluation>> trials_;
  std::map<std::string, ChampionCheck> checks_;
  std::map<std::string, std::pair<int, CountedElite>> counted_;  // with the generation
};

}  // namespace evo
