#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluator.h"

namespace evo {

// What earlier runs found, by the digest of a candidate's source.
class RecordedEvaluations {
 public:
  // Of several evaluations of one source the first counts that is not noisy, or the first; cancelled ones are passed over. Of
  // several checks that a candidate was put to as a champion, the last.
  void Add(Evaluation evaluation, std::optional<ChampionCheck> check = {});

  // Null if there is none. `measurement`: which of several, as Candidate counts them; where there are fewer, the last.
  const Evaluation* Find(const std::string& source_digest, int measurement = 0) const;
  const ChampionCheck* FindCheck(const std::string& source_digest) const;
  std::size_t size() const { return evaluations_.size(); }

 private:
  std::map<std::string, Evaluation> evaluations_;
  std::map<std::string, std::vector<Evaluation>> further_;  // after the first
  std::map<std::string, ChampionCheck> checks_;
};

// An evaluator that evaluates nothing: it answers with what is recorded. What is not recorded comes back kCancelled, from
// CheckChampion too.
class ReplayEvaluator : public Evaluator {
 public:
  // `recorded` outlives this.
  explicit ReplayEvaluator(const RecordedEvaluations& recorded) : recorded_(recorded) {}

  void Start(std::vector<Candidate> batch) override { batches_.push_back(std::move(batch)); }
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override;
  ChampionCheck CheckChampion(const Candidate& candidate, const Candidate& baseline, std::stop_token stop) override;

 private:
  const RecordedEvaluations& recorded_;
  std::deque<std::vector<Candidate>> batches_;
};

}  // namespace evo
