#include "evaluator/scheduling/pipeline.h"

#include <utility>

namespace evo {

Pipeline::Pipeline(WorkerSet& workers, PriorKnowledge prior)
    : runs_images_(workers.policy().runs_device_assembly),
      champion_checker_(workers.compile_runner(), workers, workers.arch(), workers.policy().pauses_compilers,
                        workers.check_sizes()),
      scheduler_(workers.scheduler_settings(), std::move(prior)) {}

void Pipeline::Start(std::vector<Candidate> batch) { scheduler_.Start(std::move(batch)); }

std::vector<Evaluation> Pipeline::Finish(std::stop_token stop, const Each& each) { return scheduler_.Finish(stop, each); }

ChampionCheck Pipeline::CheckChampion(const Candidate& candidate, const Candidate& baseline, std::stop_token stop) {
  ChampionCheck check =
      champion_checker_.Check(candidate, baseline, scheduler_.DeadliestInputs(), scheduler_.ChampionDeadline(), stop);
  scheduler_.Learn(check.counterexample);
  return check;
}

ChampionCheck Pipeline::CheckExport(const Candidate& candidate, const ExportedKernel& exported, const Candidate& baseline,
                                    std::stop_token stop) {
  ChampionCheck check = champion_checker_.Check(candidate, baseline, scheduler_.DeadliestInputs(), scheduler_.ChampionDeadline(),
                                                stop, ExportToJudge{exported, runs_images_});
  scheduler_.Learn(check.counterexample);
  return check;
}

}  // namespace evo
