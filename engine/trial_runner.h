#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/breeder.h"
#include "core/evaluator.h"
#include "core/store.h"
#include "engine/minimisation.h"

namespace evo {

// The operator of candidates that were made to see what a champion needs.
inline constexpr const char* kMinimise = "minimise";

// Whether a generation was made of such trials, beside the evolution.
bool IsTrial(const GenerationRecord& generation);

// Evaluates variants of one champion and records them, one generation a batch, so that they have a place in the lineage like
// every other candidate. What was recorded before an interruption is not evaluated again.
class TrialRunner {
 public:
  // `each` hears of every evaluation. The first trial gets the next id, the first batch the next generation.
  TrialRunner(const RunRecord& run, const Candidate& champion, CandidateId next_id, int next_generation, Breeder& breeder,
              Evaluator& evaluator, Store& store, Evaluator::Each each);

  // Trials of an earlier process.
  void Know(const std::vector<GenerationRecord>& generations);

  // How many were evaluated here.
  int evaluated() const { return evaluated_; }

  // As EvaluateTrials. What an interruption cuts short is not recorded.
  std::optional<std::vector<Trial>> Evaluate(const std::vector<TrialRequest>& requests, const std::stop_token& stop);

 private:
  std::vector<BredChild> Render(const std::vector<TrialRequest>& requests, const std::stop_token& stop);
  const Trial& Known(const std::string& hash, int measurement) const;
  // False if interrupted.
  bool EvaluateNew(std::vector<Candidate> candidates, const std::stop_token& stop);

  const RunRecord& run_;
  CandidateId champion_;
  std::string champion_hash_;
  CandidateId next_id_;
  int next_generation_;
  int evaluated_ = 0;
  Breeder& breeder_;
  Evaluator& evaluator_;
  Store& store_;
  Evaluator::Each each_;
  std::map<std::pair<std::string, int>, Trial> known_;  // by genome hash and measurement
};

}  // namespace evo
