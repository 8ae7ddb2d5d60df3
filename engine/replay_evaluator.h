#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "engine/recorded_evaluations.h"

namespace evo {

// Answers with what is recorded and evaluates nothing. A candidate that is not recorded comes back kCancelled, from CheckAnswers
// too; if it is a template at its default parameters, Start throws Error, because the recorded runs did not have that template.
class ReplayEvaluator : public Evaluator {
 public:
  // `recorded` outlives this.
  explicit ReplayEvaluator(const RecordedEvaluations& recorded) : recorded_(recorded) {}

  void Start(std::vector<Candidate> batch) override;
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override;
  ChampionCheck CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                             std::stop_token stop) override;
  // A recorded check is whole.
  void RunTools(const Candidate& /*candidate*/, ChampionCheck& /*check*/, std::stop_token /*stop*/) override {}
  // What was counted until that generation of the recorded runs, of all candidates that were ever asked for: a count may arrive
  // when its candidate is no longer one of them.
  std::vector<CountedElite> Count(const std::vector<Candidate>& elites, int generation) override;

 private:
  const RecordedEvaluations& recorded_;
  std::deque<std::vector<Candidate>> batches_;
  std::map<CandidateId, std::string> asked_;  // digests of the sources, until they are counted
  std::set<CandidateId> counted_;
};

}  // namespace evo
