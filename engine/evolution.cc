#include "engine/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "engine/champion.h"
#include "engine/minimisation.h"
#include "engine/selection.h"
#include "engine/trial_runner.h"

namespace evo {
namespace {

// Generations in a row without a new child: the space is exhausted for these operators.
constexpr int kBarrenGenerations = 3;
// Would-be champions that may fail their check before the run gives up on having one.
constexpr std::size_t kChampionAttempts = 32;

}  // namespace

Evolution::Evolution(RunRecord run, std::vector<Genome> seeds, Breeder& breeder, Evaluator& evaluator, Store& store, Observer& observer,
                     Population& population, ChildRanker* ranker, OperatorSelection* selection)
    : run_(std::move(run)),
      seeds_(std::move(seeds)),
      breeder_(breeder),
      evaluator_(evaluator),
      store_(store),
      observer_(observer),
      population_(population),
      ranker_(ranker),
      selection_(selection) {
  progress_.generations = run_.generations;
}

RunStatus Evolution::Run(const StopCondition& stop) {
  observer_.OnStarted(run_, false);
  Generation first = Default(stop.token());
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  StartEvaluating(first, stop);
  if (!Evaluate(first, stop)) return Finish(RunStatus::kInterrupted, "");
  Record(first);
  RequireBaseline(first);
  Absorb(first);
  StartBreeding(1);
  Generation pending = FinishBreeding(1, stop.token());
  StartEvaluating(pending, stop);
  return Loop(stop, std::move(pending));
}

RunStatus Evolution::Resume(const StopCondition& stop) {
  const std::vector<GenerationRecord> history = LoadHistory();
  if (history.empty()) return Run(stop);
  observer_.OnStarted(run_, true);
  for (std::size_t g = 0; g + 1 < history.size(); ++g) Absorb({history[g]});
  const Generation last{history.back()};
  for (const Evaluation& evaluation : last.record.evaluations) seen_.insert(evaluation.source_digest);
  if (!last.empty()) next_id_ = std::max(next_id_, last.record.candidates.back().id + 1);
  const int next = last.record.generation + 1;
  // The first generation was bred after generation 0, the others one generation behind.
  if (next == 1) {
    RequireBaseline(last);
    Absorb(last);
  }
  StartBreeding(next);
  Generation pending = FinishBreeding(next, stop.token());
  if (next > 1) Absorb(last);
  StartEvaluating(pending, stop);
  return Loop(stop, std::move(pending));
}

RunStatus Evolution::Loop(const StopCondition& stop, Generation pending) {
  while (!stop.Reached(progress_.generation) && barren_ < kBarrenGenerations) {
    const int next = pending.record.generation + 1;
    const bool breed = next <= run_.generations;
    if (breed) StartBreeding(next);
    Generation children = breed ? FinishBreeding(next, stop.token()) : Generation{};
    // They compile while this generation is timed.
    if (breed) StartEvaluating(children, stop);
    if (!Evaluate(pending, stop)) break;
    Record(pending);
    Absorb(pending);
    UpdateRates(stop);
    observer_.OnGeneration(progress_);
    pending = std::move(children);
  }
  DropStarted();
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  UpdateRates(stop);
  CheckChampion(stop);
  if (stop.Interrupted()) return Finish(RunStatus::kInterrupted, "");
  return Finish(RunStatus::kFinished, barren_ >= kBarrenGenerations ? "nothing new to try" : stop.TimeOver() ? "time limit" : "");
}

// Every template at its default parameters.
Evolution::Generation Evolution::Default(const std::stop_token& stop) {
  std::vector<BreedRequest> requests;
  for (const Genome& genome : seeds_) requests.push_back({{genome}, {}, {}, run_.seed, 0, requests.size()});
  breeder_.Start(requests);
  std::vector<BredChild> rendered = breeder_.Finish(stop);
  Generation generation;
  for (std::size_t i = 0; i < rendered.size() && !stop.stop_requested(); ++i) {
    if (!rendered[i].genome) throw Error(fmt::format("template {} cannot be rendered: {}", seeds_[i].template_name, rendered[i].failure));
    Candidate candidate{next_id_++, 0, static_cast<int>(i), seeds_[i], {}, "default", {}, std::move(rendered[i].source)};
    seen_.insert(Digest(candidate.source));
    generation.record.candidates.push_back(std::move(candidate));
  }
  return generation;
}

void Evolution::StartBreeding(int generation) {
  std::vector<BreedRequest> requests;
  parents_.clear();
  std::vector<std::pair<std::string, double>> operators(run_.operators.begin(), run_.operators.end());
  if (selection_ != nullptr) operators = selection_->Weights();
  if (ranker_ != nullptr) ranker_->Fit();
  const int count = ranker_ != nullptr ? ranker_->ToBreed(run_.children) : run_.children;
  for (int i = 0; i < count; ++i) {
    const auto g = static_cast<std::uint64_t>(generation);
    const auto index = static_cast<std::uint64_t>(i);
    Parents parents = SelectParents(population_.Mates(static_cast<std::size_t>(i)), run_.seed, g, index);
    requests.push_back({std::move(parents.genomes), std::move(parents.sources), operators, run_.seed, g, index});
    parents_.push_back(std::move(parents.ids));
  }
  breeder_.Start(std::move(requests));
}

// The children that are new, as many as the run asks for; ids are given in order.
Evolution::Generation Evolution::FinishBreeding(int number, const std::stop_token& stop) {
  std::vector<BredChild> children = breeder_.Finish(stop);
  Generation generation;
  generation.record.generation = number;
  std::vector<std::size_t> fresh;
  std::set<std::string> here;   // what is bred and not chosen may be bred again
  for (std::size_t i = 0; i < children.size(); ++i) {
    for (const std::string& op : children[i].inapplicable) ++generation.record.inapplicable[op];
    if (!children[i].genome) continue;
    const std::string digest = Digest(children[i].source);
    if (seen_.contains(digest) || !here.insert(digest).second) ++generation.record.duplicates;
    else fresh.push_back(i);
  }
  for (const std::size_t i : Chosen(children, fresh)) {
    BredChild& child = children[i];
    seen_.insert(Digest(child.source));
    std::vector<CandidateId> parents = parents_[i];
    if (child.parentless) parents.clear();
    else if (!child.used_second_parent) parents.resize(1);
    generation.record.candidates.push_back({next_id_++, number, static_cast<int>(i), std::move(*child.genome), std::move(parents),
                                            std::move(child.op), std::move(child.dropped), std::move(child.source)});
  }
  return generation;
}

// Of the fresh children those that are worth an evaluation, in their order.
std::vector<std::size_t> Evolution::Chosen(const std::vector<BredChild>& children, const std::vector<std::size_t>& fresh) const {
  if (ranker_ == nullptr) return fresh;
  std::vector<Genome> genomes;
  for (const std::size_t i : fresh) genomes.push_back(*children[i].genome);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : ranker_->Choose(genomes, static_cast<std::size_t>(run_.children))) chosen.push_back(fresh[place]);
  return chosen;
}

void Evolution::StartEvaluating(const Generation& generation, const StopCondition& stop) {
  // After an interruption nobody would ask for the result.
  if (stop.Interrupted()) return;
  evaluator_.Start(generation.record.candidates);
  ++started_;
}

// The generation that was to come after the last one.
void Evolution::DropStarted() {
  if (std::exchange(started_, 0) == 0) return;
  std::stop_source now;
  now.request_stop();
  evaluator_.Finish(now.get_token(), {});
}

// False if the generation was not finished; then nothing of it is kept.
bool Evolution::Evaluate(Generation& generation, const StopCondition& stop) {
  if (started_ == 0) return false;
  Progress running = progress_;
  running.generation = generation.record.generation;
  generation.record.evaluations = evaluator_.Finish(stop.token(), [&](const Candidate& candidate, const Evaluation& evaluation) {
    ++running.evaluated;
    ++evaluated_here_;
    if (evaluation.outcome == Outcome::kOk) {
      ++running.valid;
      if (!(running.best_ns <= evaluation.score_ns)) {
        running.best = candidate.id;
        running.best_ns = evaluation.score_ns;
        running.best_template = candidate.genome.template_name;
      }
    }
    running.seconds = stop.Elapsed().count();
    running.candidates_per_second = evaluated_here_ / std::max(running.seconds, 1e-3);
    observer_.OnEvaluated(candidate, evaluation, running);
  });
  --started_;
  const bool complete = std::none_of(generation.record.evaluations.begin(), generation.record.evaluations.end(),
                                     [](const Evaluation& e) { return e.outcome == Outcome::kCancelled; });
  // What is stopped is stopped with all that was started.
  if (!complete) started_ = 0;
  return complete;
}

void Evolution::Record(const Generation& generation) {
  GenerationRecord record = generation.record;
  record.generation += static_cast<int>(trials_.size());
  for (Candidate& candidate : record.candidates) candidate.generation = record.generation;
  store_.RecordGeneration(run_.id, record);
}

// The generations of the evolution, counted as if there had been no others.
std::vector<GenerationRecord> Evolution::LoadHistory() {
  std::vector<GenerationRecord> history;
  for (GenerationRecord& record : store_.LoadGenerations(run_.id)) {
    if (!IsTrial(record)) {
      record.generation -= static_cast<int>(trials_.size());
      history.push_back(std::move(record));
      continue;
    }
    progress_.evaluated += static_cast<int>(record.candidates.size());
    for (const Evaluation& evaluation : record.evaluations) progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
    last_id_ = record.candidates.back().id;
    next_id_ = std::max(next_id_, last_id_ + 1);
    trials_.push_back(std::move(record));
  }
  return history;
}

// Who may breed from now on.
void Evolution::Survive(const GenerationRecord& record) {
  const bool apart = baseline_apart_ && record.generation == 0 &&
                     std::any_of(record.evaluations.begin() + 1, record.evaluations.end(), [](const Evaluation& e) { return e.outcome == Outcome::kOk; });
  if (!apart) return population_.Survive(record.candidates, record.evaluations);
  population_.Survive({record.candidates.begin() + 1, record.candidates.end()}, {record.evaluations.begin() + 1, record.evaluations.end()});
}

// Survival and everything that is known because of this generation.
void Evolution::Absorb(const Generation& generation) {
  const GenerationRecord& record = generation.record;
  Survive(record);
  if (selection_ != nullptr) selection_->Learn(record);
  for (std::size_t i = 0; i < record.candidates.size(); ++i) {
    seen_.insert(record.evaluations[i].source_digest);
    if (ranker_ != nullptr) ranker_->Learn(record.candidates[i].genome, record.evaluations[i]);
    last_id_ = std::max(last_id_, record.candidates[i].id);
    next_id_ = std::max(next_id_, last_id_ + 1);
    ++progress_.evaluated;
    if (record.evaluations[i].outcome != Outcome::kOk) continue;
    ++progress_.valid;
    Challenge(record.candidates[i], record.evaluations[i]);
  }
  if (record.generation == 0) {
    baseline_ = record.candidates.front();
    progress_.baseline_ns = record.evaluations.front().score_ns;
  }
  barren_ = generation.empty() ? barren_ + 1 : 0;
  progress_.generation = record.generation;
  progress_.duplicates += record.duplicates;
  if (champion_) {
    progress_.best = champion_->first.id;
    progress_.best_ns = champion_->second.score_ns;
    progress_.best_template = champion_->first.genome.template_name;
  }
}

// In the order of ids, so that it does not matter who was evaluated first.
void Evolution::Challenge(const Candidate& candidate, const Evaluation& evaluation) {
  if (champion_ && !Beats(evaluation, champion_->second)) return;
  if (champion_) ++progress_.champion_changes;
  champion_.emplace(candidate, evaluation);
}

// The champion, then the others by their times.
std::vector<Candidate> Evolution::WouldBeChampions() const {
  std::vector<Candidate> candidates;
  if (champion_) candidates.push_back(champion_->first);
  for (const Individual& member : population_.members()) {
    if (candidates.size() >= kChampionAttempts) break;
    if (member.candidate.id != candidates.front().id) candidates.push_back(member.candidate);
  }
  return candidates;
}

void Evolution::RequireBaseline(const Generation& first) const {
  const Evaluation& evaluation = first.record.evaluations.front();
  if (evaluation.outcome == Outcome::kOk) return;
  const std::string message = fmt::format("the baseline {} does not pass: {} in stage {}: {}", run_.baseline, ToString(evaluation.outcome),
                                          ToString(evaluation.stage), evaluation.message);
  store_.EndRun(run_.id, RunStatus::kFailed, message);
  throw Error(message + "; mend the template or the task before evolving it");
}

void Evolution::UpdateRates(const StopCondition& stop) {
  progress_.seconds = stop.Elapsed().count();
  progress_.candidates_per_second = evaluated_here_ / std::max(progress_.seconds, 1e-3);
  const int done = std::max(1, progress_.generation);
  progress_.seconds_left = progress_.seconds / done * (run_.generations - progress_.generation);
  if (const auto limit = stop.time_limit()) {
    progress_.seconds_left = std::min(progress_.seconds_left, std::max(0.0, static_cast<double>(limit->count()) - progress_.seconds));
  }
}

// Candidates read back from the store come without their source.
Candidate Evolution::Rendered(Candidate candidate, const std::stop_token& stop) {
  if (!candidate.source.empty()) return candidate;
  breeder_.Start({BreedRequest{{candidate.genome}, {}, {}, run_.seed, 0, 0}});
  std::vector<BredChild> rendered = breeder_.Finish(stop);
  if (!rendered.front().genome) throw Error(fmt::format("candidate {} cannot be rendered again: {}", candidate.id, rendered.front().failure));
  candidate.source = std::move(rendered.front().source);
  return candidate;
}

// The fastest candidate that holds on held-out cases in a fresh process is the champion; one that does not is passed over.
void Evolution::CheckChampion(const StopCondition& stop) {
  if (!baseline_ || !checks_champion_) return;
  const Candidate baseline = Rendered(*baseline_, stop.token());
  for (const Candidate& would_be : WouldBeChampions()) {
    if (stop.Interrupted()) return;
    const Candidate candidate = Rendered(would_be, stop.token());
    const ChampionCheck check = evaluator_.CheckChampion(candidate, baseline, stop.token());
    if (check.outcome == Outcome::kCancelled) return;
    store_.RecordChampion(run_.id, candidate.id, check);
    observer_.OnChampion(candidate, check);
    if (check.outcome != Outcome::kOk) continue;
    progress_.best = candidate.id;
    progress_.best_template = candidate.genome.template_name;
    for (const Individual& member : population_.members()) {
      if (member.candidate.id == candidate.id) progress_.best_ns = member.score_ns;
    }
    if (minimises_) Minimise(candidate, check, baseline, stop);
    return;
  }
}

// The champion's edits are cut to those that it needs; if what is left holds as well, it is the run's best.
void Evolution::Minimise(const Candidate& champion, const ChampionCheck& check, const Candidate& baseline, const StopCondition& stop) {
  if (champion.genome.edits.empty()) return;
  TrialRunner runner(run_, champion.id, last_id_ + 1, progress_.generation + static_cast<int>(trials_.size()) + 1, breeder_, evaluator_, store_,
                     [&](const Candidate& candidate, const Evaluation& evaluation) {
                       ++progress_.evaluated;
                       ++evaluated_here_;
                       progress_.valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
                       UpdateRates(stop);
                       observer_.OnEvaluated(candidate, evaluation, progress_);
                     });
  runner.Know(trials_);
  const Trial whole{champion, EvaluationOf(champion.id)};
  const auto minimised = evo::Minimise(whole, kMinimisationBudget, [&](const auto& genomes) { return runner.Evaluate(genomes, stop.token()); });
  if (!minimised) return;
  const Candidate& form = minimised->form.candidate;
  if (form.id != champion.id && !HoldsMinimised(form, check, baseline, stop)) return;
  store_.RecordMinimised(run_.id, champion.id, form.id, minimised->without);
  progress_.best = form.id;
  progress_.best_ns = minimised->form.evaluation.score_ns;
}

// Whether it passes the check of a champion, and as fast as the champion did.
bool Evolution::HoldsMinimised(const Candidate& minimised, const ChampionCheck& check, const Candidate& baseline, const StopCondition& stop) {
  if (stop.Interrupted()) return false;
  const Candidate candidate = Rendered(minimised, stop.token());
  const ChampionCheck again = evaluator_.CheckChampion(candidate, baseline, stop.token());
  if (again.outcome == Outcome::kCancelled) return false;
  store_.RecordChampion(run_.id, candidate.id, again);
  observer_.OnChampion(candidate, again);
  return KeepsSpeed(again, check);
}

Evaluation Evolution::EvaluationOf(CandidateId id) {
  if (champion_ && champion_->first.id == id) return champion_->second;
  for (const GenerationRecord& generation : store_.LoadGenerations(run_.id)) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      if (generation.candidates[i].id == id) return generation.evaluations[i];
    }
  }
  throw Error(fmt::format("candidate {} of run {} is no longer in the database; run `evo verify` on a whole copy of it", id, run_.id));
}

RunStatus Evolution::Finish(RunStatus status, const std::string& message) {
  store_.EndRun(run_.id, status, message);
  observer_.OnFinished(status, progress_);
  return status;
}

}  // namespace evo
