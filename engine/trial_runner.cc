#include "engine/trial_runner.h"

#include <algorithm>
#include <set>
#include <utility>

namespace evo {

bool IsTrial(const GenerationRecord& generation) {
  return !generation.candidates.empty() && generation.candidates.front().op == kMinimise;
}

TrialRunner::TrialRunner(const RunRecord& run, const Candidate& champion, CandidateId next_id, int next_generation,
                         Breeder& breeder, Evaluator& evaluator, Store& store, Evaluator::Each each)
    : run_(run),
      champion_(champion.id),
      champion_hash_(GenomeHash(champion.genome)),
      next_id_(next_id),
      next_generation_(next_generation),
      breeder_(breeder),
      evaluator_(evaluator),
      store_(store),
      each_(std::move(each)) {}

void TrialRunner::Know(const std::vector<GenerationRecord>& generations) {
  for (const GenerationRecord& generation : generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      const std::string hash = GenomeHash(generation.candidates[i].genome);
      // The champion's first was made when it was a child.
      int measurement = hash == champion_hash_ ? 1 : 0;
      while (known_.contains({hash, measurement})) ++measurement;
      known_[{hash, measurement}] = {generation.candidates[i], generation.evaluations[i]};
    }
  }
}

std::vector<BredChild> TrialRunner::Render(const std::vector<TrialRequest>& requests, const std::stop_token& stop) {
  std::vector<BreedRequest> asked;
  for (const TrialRequest& request : requests) asked.push_back({{request.genome}, {}, {}, run_.seed, 0, asked.size()});
  breeder_.Start(std::move(asked));
  return breeder_.Finish(stop);
}

std::optional<std::vector<Trial>> TrialRunner::Evaluate(const std::vector<TrialRequest>& requests, const std::stop_token& stop) {
  std::vector<BredChild> rendered = Render(requests, stop);
  if (stop.stop_requested()) return std::nullopt;
  std::vector<Candidate> candidates;
  std::set<std::string> here;
  for (std::size_t i = 0; i < rendered.size(); ++i) {
    BredChild& child = rendered[i];
    if (!child.genome) continue;
    const std::string hash = GenomeHash(*child.genome);
    if (known_.contains({hash, requests[i].measurement}) || !here.insert(hash).second) continue;
    candidates.push_back({next_id_++,
                          next_generation_,
                          static_cast<int>(candidates.size()),
                          *child.genome,
                          {champion_},
                          kMinimise,
                          std::move(child.dropped),
                          std::move(child.source),
                          requests[i].measurement});
  }
  if (!candidates.empty() && !EvaluateNew(std::move(candidates), stop)) return std::nullopt;
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < rendered.size(); ++i)
    trials.push_back(rendered[i].genome ? Known(GenomeHash(*rendered[i].genome), requests[i].measurement) : Trial{});
  return trials;
}

// Two requests of a batch may come to the same genome: then there is one measurement for both, if not of the number that was
// asked for.
const Trial& TrialRunner::Known(const std::string& hash, int measurement) const {
  const auto found = known_.find({hash, measurement});
  return found != known_.end() ? found->second : known_.lower_bound({hash, 0})->second;
}

bool TrialRunner::EvaluateNew(std::vector<Candidate> candidates, const std::stop_token& stop) {
  GenerationRecord generation;
  generation.generation = next_generation_++;
  evaluated_ += static_cast<int>(candidates.size());
  evaluator_.Start(candidates);
  generation.candidates = std::move(candidates);
  generation.evaluations = evaluator_.Finish(stop, each_);
  const bool cancelled = std::any_of(generation.evaluations.begin(), generation.evaluations.end(),
                                     [](const Evaluation& e) { return e.outcome == Outcome::kCancelled; });
  if (cancelled) return false;
  store_.RecordGeneration(run_.id, generation);
  Know({std::move(generation)});
  return true;
}

}  // namespace evo
