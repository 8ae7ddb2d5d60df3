#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/breeder.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/observer.h"
#include "core/store.h"
#include "engine/child_ranker.h"
#include "engine/neutral_edits.h"
#include "engine/operator_selection.h"
#include "engine/population.h"
#include "engine/recorded_evaluations.h"
#include "engine/stop_condition.h"

namespace evo {

// The evolutionary loop. Generation 0 is every template at its default parameters, the baseline first. Generation g+1 is bred
// from the population as it was after g-1 while g is evaluated; this lag is part of the algorithm, so that a resumed run makes
// the same children.
class Evolution {
 public:
  // `run` says what to do (seed, generations, children, operators); `seeds` are the templates at their defaults, the baseline's
  // first. With a ranker more children are bred than evaluated, where it trusts itself; null: all new ones are. With a selection
  // operators are drawn as it says; null: by the run's weights.
  Evolution(RunRecord run, std::vector<Genome> seeds, Breeder& breeder, Evaluator& evaluator, Store& store, Observer& observer,
            Population& population, ChildRanker* ranker = nullptr, OperatorSelection* selection = nullptr);

  // Runs to the stop condition, then checks the champion. Throws Error when the baseline fails the gate (and says how) or when
  // what the run stands on fails; what was recorded stays recorded.
  RunStatus Run(const StopCondition& stop);

  // The run then ends without the check of its champion.
  void LeaveUnchecked() { checks_champion_ = false; }

  // The baseline is measured, and no parent: it was not asked to take part. It is one all the same if nothing else of generation
  // 0 is ok.
  void KeepBaselineApart() { baseline_apart_ = true; }

  // A champion that passed its check is then cut to the edits that it needs (engine/minimisation.h), and what is left is checked
  // as well.
  void MinimiseChampion() { minimises_ = true; }

  // Goes on after the generations that the store has of this run.
  RunStatus Resume(const StopCondition& stop);

  // What becomes of a child that is not recorded: others are bred in its place, it is left out, or the run ends with an Error.
  enum class Missing { kGivesWay, kIsLeftOut, kEndsTheRun };
  // Only what is recorded is evaluated, so that the evaluator has an answer to everything. Without a missing child the run is
  // bred as any other. `recorded` outlives the run.
  void RestrictTo(const RecordedEvaluations& recorded, Missing missing);

  const Progress& progress() const { return progress_; }

 private:
  struct Generation {
    GenerationRecord record;
    bool empty() const { return record.candidates.empty(); }
  };
  // What was bred for one generation.
  struct Offspring {
    std::vector<BredChild> children;
    std::vector<std::string> digests;  // of their sources; empty: no child
    std::vector<std::size_t> fresh;    // places of those that are new
    std::set<std::string> here;        // their digests: what is bred and not chosen may be bred again
  };

  RunStatus Loop(const StopCondition& stop, Generation pending);
  Generation Default(const std::stop_token& stop);
  void StartBreeding(int generation);
  void StartChildren(int generation, std::size_t count);
  bool IsRecorded(const std::string& source_digest) const;
  void Gather(Offspring& offspring, std::vector<BredChild> bred, GenerationRecord& record) const;
  std::vector<std::size_t> Choose(Offspring& offspring, GenerationRecord& record, std::size_t most, const std::stop_token& stop);
  std::vector<std::size_t> MostPromising(const Offspring& offspring, std::size_t most) const;
  Generation FinishBreeding(int generation, const StopCondition& stop);
  void StartEvaluating(const Generation& generation, const StopCondition& stop);
  void DropStarted();
  bool Evaluate(Generation& generation, const StopCondition& stop);
  void Record(const Generation& generation);
  void Absorb(const Generation& generation);
  void Survive(const GenerationRecord& record);
  void Challenge(const Candidate& candidate, const Evaluation& evaluation);
  std::vector<Candidate> ChampionCandidates() const;
  void RequireBaseline(const Generation& first) const;
  void CheckChampion(const StopCondition& stop);
  bool Minimise(const Candidate& champion, const ChampionCheck& check, const Candidate& baseline, const StopCondition& stop);
  bool HoldsMinimised(const Candidate& minimised, const ChampionCheck& check, const Candidate& baseline,
                      const StopCondition& stop);
  Evaluation EvaluationOf(CandidateId id);
  std::vector<GenerationRecord> LoadHistory();
  Candidate Rendered(Candidate candidate, const std::stop_token& stop);
  RunStatus Finish(RunStatus status, const std::string& message);
  void UpdateRates(const StopCondition& stop);

  RunRecord run_;
  bool checks_champion_ = true;
  bool minimises_ = false;
  bool baseline_apart_ = false;
  std::vector<Genome> seeds_;
  Breeder& breeder_;
  Evaluator& evaluator_;
  Store& store_;
  Observer& observer_;
  Population& population_;
  ChildRanker* ranker_;
  OperatorSelection* selection_;
  const RecordedEvaluations* recorded_ = nullptr;
  Missing missing_ = Missing::kGivesWay;

  NeutralEdits neutral_;
  std::set<std::string> seen_;                           // digests of every source evaluated so far, or about to be
  std::vector<std::vector<CandidateId>> parents_;        // of the children being bred
  std::vector<std::pair<std::string, double>> weights_;  // of the operators that breed them
  std::size_t made_ = 0;                                 // candidates of the evolution, those under way as well
  std::size_t absorbed_ = 0;                             // of these, evaluated
  int bred_ = 0;                                         // children, in this process
  int unrecorded_ = 0;                                   // of these
  CandidateId next_id_ = 1;
  CandidateId last_id_ = 0;    // of what is recorded; children that were bred and dropped have ids beyond it
  int started_ = 0;            // generations that the evaluator has
  int empty_generations_ = 0;  // generations in a row without a new child
  std::optional<Candidate> baseline_;
  std::optional<std::pair<Candidate, Evaluation>> champion_;
  std::map<std::string, Individual> best_of_template_;
  Progress progress_;
  int evaluated_here_ = 0;  // in this process, for the rate
  // Of minimisation, in earlier processes. They stand among the stored generations, which count on over them, and are none of the
  // evolution's.
  std::vector<GenerationRecord> trials_;
};

}  // namespace evo
