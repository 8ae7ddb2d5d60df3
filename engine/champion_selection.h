#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/store.h"
#include "engine/evolution_settings.h"
#include "engine/minimisation.h"
#include "engine/progress_tracker.h"
#include "engine/stop_condition.h"
#include "engine/trial_runner.h"

namespace evo {

// Finds the champion of a run: during the run the fastest candidate by more than the noise, at its end the fastest that passes
// the champion check, cut to the edits that it needs.
class ChampionSelection {
 public:
  // All of them outlive this.
  ChampionSelection(const EvolutionSettings& settings, const EvolutionParts& parts, ProgressTracker& progress)
      : settings_(settings), parts_(parts), progress_(progress) {}

  // Generations must come in order, from 0; those of minimisation's trials before or among them.
  void Learn(const GenerationRecord& record);
  // Generations of trials learnt so far, which the store counts among its generations.
  int trial_generations() const { return static_cast<int>(trials_.generations.size()); }

  // Puts the champion to its check: held-out cases in a fresh process. If it fails, the next fastest candidate takes its place.
  // A champion that is minimised gets a short check before and the whole one after. Ends early if interrupted.
  void Check(const StopCondition& stop);

 private:
  std::vector<Candidate> ChampionCandidates() const;
  Candidate Rendered(Candidate candidate, const std::stop_token& stop) const;
  Candidate ToBeChecked(Candidate candidate) const;
  double ScoreOf(const Candidate& candidate) const;
  // A champion that passed the short check is told of when it has passed the whole.
  enum class Told { kYes, kNo };
  void RecordCheck(const Candidate& candidate, const ChampionCheck& check, Told told = Told::kYes);
  bool Minimise(const Candidate& champion, const ChampionCheck& check, const Candidate& baseline, const StopCondition& stop);
  bool WillBeMinimised(const Candidate& candidate) const {
    return settings_.minimise_champion && !candidate.genome.edits.empty();
  }
  // The check but for the tools.
  ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                             const StopCondition& stop);
  bool HoldsInFull(const Candidate& candidate, const Candidate& baseline, const StopCondition& stop);
  bool HoldsUnderTools(const Candidate& candidate, ChampionCheck& check, const StopCondition& stop);
  bool HoldsMinimised(const Minimised& minimised, const ChampionCheck& check, const Candidate& baseline,
                      const StopCondition& stop);
  Evaluation EvaluationOf(CandidateId id) const;

  const EvolutionSettings& settings_;
  const EvolutionParts& parts_;
  ProgressTracker& progress_;
  std::optional<Candidate> baseline_;
  std::optional<std::pair<Candidate, Evaluation>> champion_;
  std::map<std::string, Individual> best_of_template_;
  TrialHistory trials_;
};

}  // namespace evo
