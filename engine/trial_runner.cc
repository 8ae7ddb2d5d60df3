#include "engine/trial_runner.h"

#include <algorithm>
#include <set>
#include <utility>

namespace evo {

bool IsTrial(const GenerationRecord& generation) { return !generation.candidates.empty() && generation.candidates.front().op == kMinimise; }

TrialRunner::TrialRunner(const RunRecord& run, CandidateId champion, CandidateId next_id, int next_generation, Breeder& breeder, Evaluator& evaluator,
                         Store& store, Evaluator::Each each)
    : run_(run),
      champion_(champion),
      next_id_(next_id),
      next_generation_(next_generation),
      breeder_(breeder),
      evaluator_(evaluator),
      store_(store),
      each_(std::move(each)) {}

void TrialRunner::Know(const std::vector<GenerationRecord>& generations) {
  for (const GenerationRecord& generation : generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      known_[GenomeHash(generation.candidates[i].genome)] = {generation.candidates[i], generation.evaluations[i]};
    }
  }
}

std::vector<BredChild> TrialRunner::Render(const std::vector<Genome>& genomes, const std::stop_token& stop) {
  std::vector<BreedRequest> requests;
  for (const Genome& genome : genomes) requests.push_back({{genome}, {}, {}, run_.seed, 0, requests.size()});
  breeder_.Start(std::move(requests));
  return breeder_.Finish(stop);
}

std::optional<std::vector<Trial>> TrialRunner::Evaluate(const std::vector<Genome>& genomes, const std::stop_token& stop) {
  std::vector<BredChild> rendered = Render(genomes, stop);
  if (stop.stop_requested()) return std::nullopt;
  std::vector<Candidate> candidates;
  std::set<std::string> here;
  for (BredChild& child : rendered) {
    if (!child.genome) continue;
    const std::string hash = GenomeHash(*child.genome);
    if (known_.contains(hash) || !here.insert(hash).second) continue;
    candidates.push_back({next_id_++, next_generation_, static_cast<int>(candidates.size()), *child.genome, {champion_}, kMinimise, std::move(child.dropped),
                          std::move(child.source)});
  }
  if (!candidates.empty() && !EvaluateNew(std::move(candidates), stop)) return std::nullopt;
  std::vector<Trial> trials;
  for (const BredChild& child : rendered) trials.push_back(child.genome ? known_.at(GenomeHash(*child.genome)) : Trial{});
  return trials;
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
