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

// The operator of candidates that were made to see which edits a champion needs.
inline constexpr const char* kMinimise = "minimise";

// Whether a generation consists of such trials and is no part of the evolution.
bool IsTrial(const GenerationRecord& generation);

// The trials that a run has recorded, in this process and in earlier ones, and the ids and generations that the next ones get.
struct TrialHistory {
  std::vector<GenerationRecord> generations;  // of trials
  int evolved = 0;                            // generations of the evolution
  CandidateId next_id = 1;

  // Takes a recorded generation, of the evolution or of trials.
  void Learn(const GenerationRecord& record);
  // The store counts generations of both kinds together.
  int NextGeneration() const { return evolved + static_cast<int>(generations.size()); }
};

// Evaluates variants of one champion and records them, one generation a batch, so that they have a place in the lineage like
// every other candidate. Trials of the history are not evaluated again.
class TrialRunner {
 public:
  // `each` is called after every evaluation. New trials are added to `history`, which outlives this as all references do.
  TrialRunner(const RunRecord& run, const Candidate& champion, TrialHistory& history, Breeder& breeder, Evaluator& evaluator,
              Store& store, Evaluator::Each each);

  // How many were evaluated here.
  int evaluated() const { return evaluated_; }

  // As EvaluateTrials. A batch that an interruption cuts short is not recorded.
  std::optional<std::vector<Trial>> Evaluate(const std::vector<TrialRequest>& requests, const std::stop_token& stop);

 private:
  std::vector<BredChild> Render(const std::vector<TrialRequest>& requests, const std::stop_token& stop);
  std::vector<Candidate> NewCandidates(const std::vector<TrialRequest>& requests, std::vector<BredChild>& rendered);
  void Know(const GenerationRecord& generation);
  const Trial& Known(const std::string& hash, int measurement) const;
  // False if interrupted.
  bool EvaluateNew(std::vector<Candidate> candidates, const std::stop_token& stop);

  const RunRecord& run_;
  CandidateId champion_;
  std::string champion_hash_;
  TrialHistory& history_;
  int evaluated_ = 0;
  Breeder& breeder_;
  Evaluator& evaluator_;
  Store& store_;
  Evaluator::Each each_;
  std::map<std::pair<std::string, int>, Trial> known_;  // by genome hash and measurement
};

}  // namespace evo
