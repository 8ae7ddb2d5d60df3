#include "evaluator/scheduling/pipeline.h"

#include <utility>

namespace evo {

Pipeline::Pipeline(WorkerSet& workers, PriorKnowledge prior)
    : runs_images_(workers.policy().runs_device_assembly),
      champion_checker_(workers.compile_runner(), workers, workers.tools(), workers.arch(), workers.policy().pauses_compilers,
                        workers.check_sizes()),
      scheduler_(workers.scheduler_settings(), std::move(prior)) {
  if (auto settings = workers.elite_counter_settings()) elites_ = std::make_unique<EliteCounter>(std::move(*settings));
}

void Pipeline::Start(std::vector<Candidate> batch) { scheduler_.Start(std::move(batch)); }

std::vector<Evaluation> Pipeline::Finish(std::stop_token stop, const Each& each) { return scheduler_.Finish(stop, each); }

ChampionCheck Pipeline::CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                                     std::stop_token stop) {
  EndCounting();
  ChampionCheck check = champion_checker_.CheckAnswers(candidate, baseline, scheduler_.InputsToTryFirst(), effort,
                                                       scheduler_.ChampionDeadline(), stop);
  scheduler_.LearnMissed(check.counterexample);
  return check;
}

void Pipeline::RunTools(const Candidate& candidate, ChampionCheck& check, std::stop_token stop) {
  EndCounting();
  champion_checker_.RunTools(candidate, check, stop);
}

ChampionCheck Pipeline::CheckExport(const Candidate& candidate, const ExportedKernel& exported, const Candidate& baseline,
                                    const CheckEffort& effort, std::stop_token stop) {
  EndCounting();
  ChampionCheck check = champion_checker_.CheckExport(candidate, baseline, scheduler_.InputsToTryFirst(), effort,
                                                      scheduler_.ChampionDeadline(), {exported, runs_images_}, stop);
  scheduler_.LearnMissed(check.counterexample);
  return check;
}

std::vector<CountedElite> Pipeline::Count(const std::vector<Candidate>& elites, int /*generation*/) {
  return elites_ == nullptr ? std::vector<CountedElite>() : elites_->Count(elites);
}

}  // namespace evo
