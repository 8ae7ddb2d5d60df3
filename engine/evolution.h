#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/observer.h"
#include "core/store.h"
#include "engine/champion_selection.h"
#include "engine/elite_choice.h"
#include "engine/evolution_settings.h"
#include "engine/progress_tracker.h"
#include "engine/reproduction.h"
#include "engine/stop_condition.h"

namespace evo {

// The evolutionary loop: select, breed, drop the seen, evaluate, record, survive, notify. Generation 0 is every template at its
// default parameters, the baseline first. Generation g + 1 is bred from the population as it was after g - 1, while g is
// evaluated. This lag is part of the algorithm, so that a resumed run makes the same children.
class Evolution {
 public:
  Evolution(EvolutionSettings settings, EvolutionParts parts);
  Evolution(const Evolution&) = delete;
  Evolution& operator=(const Evolution&) = delete;

  // Runs to the stop condition, then checks the champion. Throws Error when the baseline fails the gate (and says how) or when
  // the evaluator, the breeder or the store fails; what was recorded stays recorded.
  RunStatus Run(const StopCondition& stop);

  // Goes on after the generations that the store has of this run.
  RunStatus Resume(const StopCondition& stop);
  // The same where somebody else reads them: calls its argument for each, in order. Of a long run, not all of them are in memory.
  using GenerationSource = std::function<void(const std::function<void(GenerationRecord)>&)>;
  RunStatus Resume(const StopCondition& stop, const GenerationSource& generations);

  const Progress& progress() const { return progress_.progress(); }

 private:
  RunStatus Loop(GenerationRecord pending, const StopCondition& stop);
  bool GoesOn(const StopCondition& stop) const;
  bool IsAwaited(int generation) const;
  GenerationRecord StartNext(int generation, const StopCondition& stop);
  void StartEvaluating(const GenerationRecord& generation, const StopCondition& stop);
  bool FinishEvaluating(GenerationRecord& generation, const StopCondition& stop);
  void KeepFinished(GenerationRecord generation, const StopCondition& stop);
  void DropStarted();
  void Record(GenerationRecord generation);
  void Survive(const GenerationRecord& generation);
  void Notify(const StopCondition& stop);
  std::optional<GenerationRecord> Absorb(const GenerationSource& generations);
  void RequireBaseline(const GenerationRecord& first) const;
  RunStatus CheckAndClose(const StopCondition& stop);
  RunStatus Close(RunStatus status, const std::string& message);

  const EvolutionSettings settings_;
  const EvolutionParts parts_;
  ProgressTracker progress_;
  Reproduction reproduction_;
  ChampionSelection champions_;
  EliteChoice elites_;
  int started_ = 0;            // generations that the evaluator has
  int empty_generations_ = 0;  // generations in a row without a new child
};

}  // namespace evo
