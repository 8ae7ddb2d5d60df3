#include "engine/trial_runner.h"

#include <algorithm>
#include <set>
#include <utility>

namespace evo {

bool IsTrial(const GenerationRecord& generation) {
  return !generation.candidates.empty() && generation.candidates.front().op == kMinimise;
}

void TrialHistory::Learn(const GenerationRecord& record) {
  if (!record.candidates.empty()) next_id = std::max(next_id, record.candidates.back().id + 1);
  if (IsTrial(record))
    generations.push_back(record);
  else
    evolved = record.generation + 1;
}

TrialRunner::TrialRunner(const RunRecord& run, const Candidate& champion, TrialHistory& history, Breeder& breeder,
                         Evaluator& evaluator, Store& store, Evaluator::Each each)
    : run_(run),
      champion_(champion.id),
      champion_hash_(GenomeHash(champion.genome)),
      history_(history),
      breeder_(breeder),
      evaluator_(evaluator),
      store_(store),
      each_(std::move(each)) {
  for (const GenerationRecord& generation : history.generations) Know(generation);
}

void TrialRunner::Know(const GenerationRecord& generation) {
  for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
    const std::string hash = GenomeHash(generation.candidates[i].genome);
    // Measurement 0 of the champion is not among the trials: it was made when the champion was a child.
    int measurement = hash == champion_hash_ ? 1 : 0;
    while (known_.contains({hash, measurement})) ++measurement;
    known_[{hash, measurement}] = {generation.candidates[i], generation.evaluations[i]};
  }
}

std::vector<BredChild> TrialRunner::Render(const std::vector<TrialRequest>& requests, const std::stop_token& stop) {
  std::vector<BreedRequest> genomes;
  for (const TrialRequest& request : requests) genomes.push_back({{request.genome}, {}, {}, run_.seed, 0, genomes.size()});
  return breeder_.Breed(std::move(genomes), stop);
}

// Of the requests that could be rendered, one for each genome that is not known.
std::vector<Candidate> TrialRunner::NewCandidates(const std::vector<TrialRequest>& requests, std::vector<BredChild>& rendered) {
  std::vector<Candidate> candidates;
  std::set<std::string> here;
  for (std::size_t i = 0; i < rendered.size(); ++i) {
    BredChild& child = rendered[i];
    if (!child.genome) continue;
    const std::string hash = GenomeHash(*child.genome);
    if (known_.contains({hash, requests[i].measurement}) || !here.insert(hash).second) continue;
    candidates.push_back({history_.next_id++,
                          history_.NextGeneration(),
                          static_cast<int>(candidates.size()),
                          *child.genome,
                          {champion_},
                          kMinimise,
                          std::move(child.dropped),
                          std::move(child.source),
                          requests[i].measurement + (hash == champion_hash_ ? 0 : 1)});
  }
  return candidates;
}

std::optional<std::vector<Trial>> TrialRunner::Evaluate(const std::vector<TrialRequest>& requests, const std::stop_token& stop) {
  std::vector<BredChild> rendered = Render(requests, stop);
  if (stop.stop_requested()) return std::nullopt;
  std::vector<Candidate> candidates = NewCandidates(requests, rendered);
  if (!candidates.empty() && !EvaluateNew(std::move(candidates), stop)) return std::nullopt;
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < rendered.size(); ++i)
    trials.push_back(rendered[i].genome ? Known(GenomeHash(*rendered[i].genome), requests[i].measurement) : Trial{});
  return trials;
}

// Two requests of a batch may render to the same genome. Then one measurement serves both, even if it does not have the number
// that was requested.
const Trial& TrialRunner::Known(const std::string& hash, int measurement) const {
  const auto found = known_.find({hash, measurement});
  return found != known_.end() ? found->second : known_.lower_bound({hash, 0})->second;
}

bool TrialRunner::EvaluateNew(std::vector<Candidate> candidates, const std::stop_token& stop) {
  GenerationRecord generation;
  generation.generation = history_.NextGeneration();
  evaluated_ += static_cast<int>(candidates.size());
  evaluator_.Start(candidates);
  generation.candidates = std::move(candidates);
  generation.evaluations = evaluator_.Finish(stop, each_);
  const bool cancelled = std::any_of(generation.evaluations.begin(), generation.evaluations.end(),
                                     [](const Evaluation& e) { return e.outcome == Outcome::kCancelled; });
  if (cancelled) return false;
  store_.RecordGeneration(run_.id, generation);
  Know(generation);
  history_.Learn(generation);
  return true;
}

}  // namespace evo
