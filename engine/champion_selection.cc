#include "engine/champion_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "engine/champion.h"

namespace evo {
namespace {

// Champion candidates that may fail their check before the run ends without a champion.
constexpr std::size_t kChampionAttempts = 32;
// Candidates of one template that may fail because of a tool. The tool's finding was there before any edit, so the template's
// other candidates would fail as well.
constexpr int kAttemptsWithATool = 3;

// Before minimisation: enough for what is found soon. What is left of the champion gets the whole check.
constexpr CheckEffort kShortCheck{.search_s = 2, .sizes_s = 3};

// A share of the check's time, which its parts that could go on have for themselves.
double Share(const StopCondition& stop, double share) {
  const auto time = stop.check_time();
  return time ? share * static_cast<double>(time->count()) : kNoValue;
}

CheckEffort WholeCheck(const StopCondition& stop) { return {.search_s = Share(stop, 1.0 / 3), .sizes_s = Share(stop, 1.0 / 6)}; }

// Evaluates no more after a third of the check's time.
class TimeForTrials {
 public:
  explicit TimeForTrials(const StopCondition& stop) : seconds_(Share(stop, 1.0 / 3)) {}
  bool Over() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > seconds_; }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool FailedByATool(const ChampionCheck& check) { return std::any_of(check.tools.begin(), check.tools.end(), FoundFault); }

}  // namespace

// In the order of ids, so that it does not matter which evaluation ended first.
void ChampionSelection::Learn(const GenerationRecord& record) {
  trials_.Learn(record);
  if (IsTrial(record)) return;
  if (record.generation == 0) baseline_ = record.candidates.front();
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    const Candidate& candidate = record.candidates[i];
    const Evaluation& evaluation = record.evaluations[i];
    if (evaluation.outcome != Outcome::kOk) continue;
    if (!champion_ || Beats(evaluation, champion_->second)) {
      champion_.emplace(candidate, evaluation);
      progress_.ChangeChampion(candidate, evaluation.score_ns);
    }
    const Individual individual{candidate, evaluation.score_ns, evaluation.clocks.compile_ms};
    const auto best = best_of_template_.try_emplace(candidate.genome.template_name, individual).first;
    if (Precedes(individual, best->second)) best->second = individual;
  }
}

// The champion, then the other survivors by their times, then the best of the templates that did not survive.
std::vector<Candidate> ChampionSelection::ChampionCandidates() const {
  std::vector<Candidate> candidates;
  if (champion_) candidates.push_back(champion_->first);
  for (const Individual& member : parts_.population.members()) {
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
Candidate ChampionSelection::Rendered(Candidate candidate, const std::stop_token& stop) const {
  if (!candidate.source.empty()) return candidate;
  std::vector<BredChild> rendered =
      parts_.breeder.Breed({BreedRequest{{candidate.genome}, {}, {}, settings_.run.seed, 0, 0}}, stop);
  if (!rendered.front().genome)
    throw Error(fmt::format("candidate {} cannot be rendered again: {}", candidate.id, rendered.front().failure));
  candidate.source = std::move(rendered.front().source);
  return candidate;
}

// An evaluator does not know what the operators promise.
Candidate ChampionSelection::ToBeChecked(Candidate candidate) const {
  candidate.unproven_edits = static_cast<int>(UnprovenEdits(candidate.genome, settings_.promises).size());
  return candidate;
}

double ChampionSelection::ScoreOf(const Candidate& candidate) const {
  for (const Individual& member : parts_.population.members()) {
    if (member.candidate.id == candidate.id) return member.score_ns;
  }
  const Individual& best = best_of_template_.at(candidate.genome.template_name);
  return best.candidate.id == candidate.id ? best.score_ns : progress_.progress().best_ns;
}

void ChampionSelection::RecordCheck(const Candidate& candidate, const ChampionCheck& check, Told told) {
  parts_.store.RecordChampion(settings_.run.id, candidate.id, check);
  if (told == Told::kYes) parts_.observer.OnChampion(candidate, check);
}

void ChampionSelection::Check(const StopCondition& stop) {
  if (!baseline_ || !settings_.check_champion) return;
  const Candidate baseline = Rendered(*baseline_, stop.token());
  std::map<std::string, int> failed_by_tool;  // by template
  for (const Candidate& next : ChampionCandidates()) {
    if (stop.Interrupted()) return;
    int& failed = failed_by_tool[next.genome.template_name];
    if (failed >= kAttemptsWithATool) continue;
    const Candidate candidate = Rendered(next, stop.token());
    const bool minimised = WillBeMinimised(candidate);
    ChampionCheck check = CheckAnswers(candidate, baseline, minimised ? kShortCheck : WholeCheck(stop), stop);
    if (check.outcome == Outcome::kCancelled) return;
    const bool goes_on = minimised && check.outcome == Outcome::kOk;
    RecordCheck(candidate, check, goes_on ? Told::kNo : Told::kYes);
    if (check.outcome == Outcome::kOk) {
      progress_.DecideBest(candidate, ScoreOf(candidate));
      if (minimised ? Minimise(candidate, check, baseline, stop) : HoldsUnderTools(candidate, check, stop)) return;
    }
    if (FailedByATool(check)) ++failed;
  }
}

ChampionCheck ChampionSelection::CheckAnswers(const Candidate& candidate, const Candidate& baseline, const CheckEffort& effort,
                                              const StopCondition& stop) {
  return parts_.evaluator.CheckAnswers(ToBeChecked(candidate), baseline, effort, stop.token());
}

// The whole check of a champion that had only the short one, because no shorter variant took its place.
bool ChampionSelection::HoldsInFull(const Candidate& champion, const Candidate& baseline, const StopCondition& stop) {
  const Candidate candidate = Rendered(champion, stop.token());
  ChampionCheck check = CheckAnswers(candidate, baseline, WholeCheck(stop), stop);
  if (check.outcome == Outcome::kCancelled) return true;
  if (check.outcome == Outcome::kOk) parts_.evaluator.RunTools(candidate, check, stop.token());
  RecordCheck(candidate, check);
  return check.outcome == Outcome::kOk;
}

// The tools take longer than the rest of a check, so only what is to be the run's best is run under them.
bool ChampionSelection::HoldsUnderTools(const Candidate& candidate, ChampionCheck& check, const StopCondition& stop) {
  const std::size_t before = check.tools.size();
  parts_.evaluator.RunTools(candidate, check, stop.token());
  if (check.tools.size() > before || !check.counters.empty() || !check.not_counted.empty()) RecordCheck(candidate, check);
  return check.outcome == Outcome::kOk;
}

// Cuts the champion to the edits that it needs. If the result passes the check, it is the run's best. If it does not, the search
// took an edit for removable that the check needs, and a longer variant is tried. False if the champion itself was found wrong,
// which its verdict then says.
bool ChampionSelection::Minimise(const Candidate& champion, const ChampionCheck& check, const Candidate& baseline,
                                 const StopCondition& stop) {
  TrialRunner runner(settings_.run, champion, trials_, parts_.breeder, parts_.evaluator, parts_.store,
                     [&](const Candidate& candidate, const Evaluation& evaluation) {
                       progress_.CountTrial(evaluation, stop);
                       parts_.observer.OnEvaluated(candidate, evaluation, progress_.progress());
                     });
  const Trial whole{champion, EvaluationOf(champion.id)};
  const TimeForTrials time(stop);
  const EvaluateTrials evaluate = [&](const std::vector<TrialRequest>& requests) {
    return time.Over() ? std::vector<Trial>(requests.size()) : runner.Evaluate(requests, stop.token());
  };
  std::vector<Trial> rejected;
  while (rejected.size() < kMinimisedVariants) {
    const int budget = kMinimisationBudget - runner.evaluated();
    const auto minimised = evo::Minimise(whole, settings_.promises, budget, evaluate, rejected);
    if (!minimised) return true;
    ChampionCheck failed = check;
    if (minimised->wrong) {
      failed.outcome = minimised->wrong->outcome;
      failed.message = fmt::format("measured again: {}", minimised->wrong->message);
      RecordCheck(champion, failed);
      return false;
    }
    const Candidate& variant = minimised->variant.candidate;
    if (variant.genome.edits.empty() && Rendered(variant, stop.token()).source == baseline.source) {
      failed.outcome = Outcome::kNoisy;
      failed.message = "measured again, the baseline is as fast: the speed-up was noise of this machine";
      RecordCheck(champion, failed);
      return false;
    }
    if (variant.id == champion.id) {
      // After a rejected variant it was not shown that every edit is needed.
      if (rejected.empty()) parts_.store.RecordMinimised(settings_.run.id, champion.id, variant.id, minimised->without);
      break;
    }
    if (HoldsMinimised(*minimised, check, baseline, stop)) {
      parts_.store.RecordMinimised(settings_.run.id, champion.id, variant.id, minimised->without);
      progress_.DecideBest(variant, minimised->variant.evaluation.score_ns);
      return true;
    }
    if (stop.Interrupted()) return true;
    rejected.push_back(minimised->variant);
  }
  return HoldsInFull(champion, baseline, stop);
}

// Whether the variant passes the champion check, as fast as the champion did but for the unproven edits that were left out.
bool ChampionSelection::HoldsMinimised(const Minimised& minimised, const ChampionCheck& check, const Candidate& baseline,
                                       const StopCondition& stop) {
  if (stop.Interrupted()) return false;
  const Candidate candidate = Rendered(minimised.variant.candidate, stop.token());
  ChampionCheck again = CheckAnswers(candidate, baseline, WholeCheck(stop), stop);
  if (again.outcome == Outcome::kCancelled) return false;
  // A variant that passes and is slower gets no verdict: with one it would count as the best of the run if its time in the search
  // was better by chance.
  const bool keeps = KeepsSpeed(again, check, minimised.unproven_dropped);
  if (!keeps && again.outcome == Outcome::kOk) return false;
  if (keeps) parts_.evaluator.RunTools(candidate, again, stop.token());
  RecordCheck(candidate, again);
  return again.outcome == Outcome::kOk;
}

Evaluation ChampionSelection::EvaluationOf(CandidateId id) const {
  if (champion_ && champion_->first.id == id) return champion_->second;
  for (const GenerationRecord& generation : parts_.store.LoadGenerations(settings_.run.id)) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      if (generation.candidates[i].id == id) return generation.evaluations[i];
    }
  }
  throw Error(fmt::format("candidate {} of run {} is no longer in the database; run `evo verify` on a whole copy of it", id,
                          settings_.run.id));
}

}  // namespace evo
