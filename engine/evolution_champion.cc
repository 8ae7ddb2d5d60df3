// The end of a run: its champion is checked, and cut to what it needs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "engine/evolution.h"
#include "engine/minimisation.h"
#include "engine/trial_runner.h"

namespace evo {
namespace {

// Would-be champions that may fail their check before the run gives up on having one.
constexpr std::size_t kChampionAttempts = 32;
// Of one template, by a tool: what the tool objects to was there before any edit, and the others of its kind would fail as well.
constexpr int kAttemptsWithATool = 3;

bool FailedByATool(const ChampionCheck& check) {
  return std::any_of(check.tools.begin(), check.tools.end(), [](const ToolResult& tool) { return tool.result == "error"; });
}

}  // namespace

// The champion, then the others by their times, and the best of templates that did not survive.
std::vector<Candidate> Evolution::ChampionCandidates() const {
  std::vector<Candidate> candidates;
  if (champion_) candidates.push_back(champion_->first);
  for (const Individual& member : population_.members()) {
    if (candidates.size() >= kChampionAttempts) break;
    if (member.candidate.id != candidates.front().id) candidates.push_back(member.candidate);
  }
  std::vector<Individual> others;
  for (const auto& [name, best] : best_of_template_) {
    const bool there =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& one) { return one.id == best.candidate.id; });
    if (!there) others.push_back(best);
  }
  std::sort(others.begin(), others.end(), Precedes);
  for (Individual& other : others) candidates.push_back(std::move(other.candidate));
  return candidates;
}

// Candidates read back from the store come without their source.
Candidate Evolution::Rendered(Candidate candidate, const std::stop_token& stop) {
  if (!candidate.source.empty()) return candidate;
  breeder_.Start({BreedRequest{{candidate.genome}, {}, {}, run_.seed, 0, 0}});
  std::vector<BredChild> rendered = breeder_.Finish(stop);
  if (!rendered.front().genome)
    throw Error(fmt::format("candidate {} cannot be rendered again: {}", candidate.id, rendered.front().failure));
  candidate.source = std::move(rendered.front().source);
  return candidate;
}

// The fastest candidate that holds on held-out cases in a fresh process is the champion; one that does not is passed over.
void Evolution::CheckChampion(const StopCondition& stop) {
  if (!baseline_ || !checks_champion_) return;
  const Candidate baseline = Rendered(*baseline_, stop.token());
  std::map<std::string, int> failed_by_tool;  // by template
  for (const Candidate& contender : ChampionCandidates()) {
    if (stop.Interrupted()) return;
    if (failed_by_tool[contender.genome.template_name] >= kAttemptsWithATool) continue;
    const Candidate candidate = Rendered(contender, stop.token());
    const ChampionCheck check = evaluator_.CheckChampion(candidate, baseline, stop.token());
    if (check.outcome == Outcome::kCancelled) return;
    store_.RecordChampion(run_.id, candidate.id, check);
    observer_.OnChampion(candidate, check);
    if (FailedByATool(check)) ++failed_by_tool[candidate.genome.template_name];
    if (check.outcome != Outcome::kOk) continue;
    progress_.best = candidate.id;
    progress_.best_template = candidate.genome.template_name;
    for (const Individual& member : population_.members()) {
      if (member.candidate.id == candidate.id) progress_.best_ns = member.score_ns;
    }
    const Individual& best = best_of_template_.at(candidate.genome.template_name);
    if (best.candidate.id == candidate.id) progress_.best_ns = best.score_ns;
    if (!minimises_ || Minimise(candidate, check, baseline, stop)) return;
  }
}

// The champion's edits are cut to those that it needs; if what is left holds as well, it is the run's best. If not, the search
// took for removable what the check says is not, and a longer variant is tried. False if the champion itself was found wrong: its
// verdict says so then.
bool Evolution::Minimise(const Candidate& champion, const ChampionCheck& check, const Candidate& baseline,
                         const StopCondition& stop) {
  if (champion.genome.edits.empty()) return true;
  TrialRunner runner(run_, champion, last_id_ + 1, progress_.generation + static_cast<int>(trials_.size()) + 1, breeder_,
                     evaluator_, store_, [&](const Candidate& candidate, const Evaluation& evaluation) {
                       ++progress_.evaluated;
                       ++evaluated_here_;
                       progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
                       UpdateRates(stop);
                       observer_.OnEvaluated(candidate, evaluation, progress_);
                     });
  runner.Know(trials_);
  const Trial whole{champion, EvaluationOf(champion.id)};
  std::vector<Trial> rejected;
  while (rejected.size() < kMinimisedVariants) {
    const int budget = kMinimisationBudget - runner.evaluated();
    const auto minimised = evo::Minimise(
        whole, budget, [&](const auto& requests) { return runner.Evaluate(requests, stop.token()); }, rejected);
    if (!minimised) return true;
    if (minimised->wrong) {
      ChampionCheck failed = check;
      failed.outcome = minimised->wrong->outcome;
      failed.message = fmt::format("measured again: {}", minimised->wrong->message);
      store_.RecordChampion(run_.id, champion.id, failed);
      observer_.OnChampion(champion, failed);
      return false;
    }
    const Candidate& variant = minimised->variant.candidate;
    if (variant.id == champion.id && !rejected.empty()) return true;  // that every edit is needed was not shown
    if (variant.id == champion.id || HoldsMinimised(variant, check, baseline, stop)) {
      store_.RecordMinimised(run_.id, champion.id, variant.id, minimised->without);
      progress_.best = variant.id;
      progress_.best_ns = minimised->variant.evaluation.score_ns;
      return true;
    }
    if (stop.Interrupted()) return true;
    rejected.push_back(minimised->variant);
  }
  return true;
}

// Whether it passes the check of a champion, and as fast as the champion did.
bool Evolution::HoldsMinimised(const Candidate& minimised, const ChampionCheck& check, const Candidate& baseline,
                               const StopCondition& stop) {
  if (stop.Interrupted()) return false;
  const Candidate candidate = Rendered(minimised, stop.token());
  const ChampionCheck again = evaluator_.CheckChampion(candidate, baseline, stop.token());
  if (again.outcome == Outcome::kCancelled) return false;
  // A variant that holds and is slower is nobody's best: with its verdict it would be, where its time in the search was the
  // better one by chance.
  const bool keeps = KeepsSpeed(again, check);
  if (!keeps && again.outcome == Outcome::kOk) return false;
  store_.RecordChampion(run_.id, candidate.id, again);
  observer_.OnChampion(candidate, again);
  return keeps;
}

Evaluation Evolution::EvaluationOf(CandidateId id) {
  if (champion_ && champion_->first.id == id) return champion_->second;
  for (const GenerationRecord& generation : store_.LoadGenerations(run_.id)) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      if (generation.candidates[i].id == id) return generation.evaluations[i];
    }
  }
  throw Error(
      fmt::format("candidate {} of run {} is no longer in the database; run `evo verify` on a whole copy of it", id, run_.id));
}

}  // namespace evo
