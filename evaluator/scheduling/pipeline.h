#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/scheduling/champion_checker.h"
#include "evaluator/scheduling/elite_counter.h"
#include "evaluator/scheduling/scheduler.h"
#include "evaluator/scheduling/search_history.h"
#include "evaluator/scheduling/utilisation.h"
#include "evaluator/scheduling/worker_set.h"

namespace evo {

// Evaluates candidates in worker processes: each is compiled, then checked and timed, while the next ones compile. What was
// evaluated before is not evaluated again.
class Pipeline : public Evaluator {
 public:
  // `workers` must outlive the pipeline.
  explicit Pipeline(WorkerSet& workers, PriorKnowledge prior = {});

  void Start(std::vector<Candidate> batch) override;
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override;
  ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                             std::stop_token stop) override;
  void RunTools(const Candidate& candidate, ChampionCheck& check, std::stop_token stop) override;
  // By an EliteCounter, until a champion is checked.
  std::vector<CountedElite> Count(const std::vector<Candidate>& elites, int generation) override;

  // CheckChampion for what the user gets of the candidate; see ChampionChecker::CheckExport.
  ChampionCheck CheckExport(const Candidate& candidate, const ExportedKernel& exported, const Candidate& baseline,
                            const CheckEffort& effort, std::stop_token stop);

  Utilisation utilisation() const { return scheduler_.utilisation(); }

 private:
  void EndCounting() {
    if (elites_ != nullptr) elites_->End();
  }

  bool runs_images_;
  ChampionChecker champion_checker_;
  Scheduler scheduler_;
  std::unique_ptr<EliteCounter> elites_;  // null where nothing is counted
};

}  // namespace evo
