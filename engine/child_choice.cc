#include "engine/child_choice.h"

#include <algorithm>

namespace evo {

std::vector<std::size_t> FirstChildren::Choose(Offspring& offspring, std::size_t most, const BreedMore&) {
  std::vector<std::size_t> chosen = offspring.fresh;
  chosen.resize(std::min(most, chosen.size()));
  return chosen;
}

int RankedChildren::ToBreed(int wanted) {
  ranker_.Fit();
  return ranker_.ToBreed(wanted);
}

std::vector<std::size_t> RankedChildren::Choose(Offspring& offspring, std::size_t most, const BreedMore&) {
  std::vector<Genome> genomes;
  for (const std::size_t i : offspring.fresh) genomes.push_back(*offspring.children[i].genome);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : ranker_.Choose(genomes, most)) chosen.push_back(offspring.fresh[place]);
  return chosen;
}

void RankedChildren::Await(const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) ranker_.Await(candidate.genome);
}

void RankedChildren::Learn(const GenerationRecord& record) {
  for (std::size_t i = 0; i < record.candidates.size(); ++i) ranker_.Learn(record.candidates[i].genome, record.evaluations[i]);
}

std::unique_ptr<ChildChoice> MakeChoice(ChildRanker* ranker) {
  if (ranker == nullptr) return std::make_unique<FirstChildren>();
  return std::make_unique<RankedChildren>(*ranker);
}

}  // namespace evo
