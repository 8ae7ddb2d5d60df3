#include "engine/elite_choice.h"

#include <utility>

#include "core/counted_diagnosis.h"

namespace evo {

std::vector<Candidate> EliteChoice::ToCount(const std::stop_token& stop) {
  std::vector<Candidate> elites;
  if (parts_.selection == nullptr || !parts_.selection->by_bottleneck()) return elites;
  for (const Individual& member : parts_.population.members()) {
    const CandidateId id = member.candidate.id;
    if (!counted_.contains(id) && CountersTellMoreThan(parts_.selection->BottleneckOf(id))) elites.push_back(member.candidate);
  }
  Render(elites, stop);
  std::erase_if(elites, [](const Candidate& elite) { return elite.source.empty(); });
  return elites;
}

void EliteChoice::Learn(const GenerationRecord& record) {
  for (const CountedElite& one : record.counted) counted_.insert(one.candidate);
}

// Candidates of a resumed run have no source. It stays empty if there is none to be had.
void EliteChoice::Render(std::vector<Candidate>& candidates, const std::stop_token& stop) {
  std::map<CandidateId, std::string> known = std::exchange(rendered_, {});
  std::vector<BreedRequest> requests;
  std::vector<Candidate*> without;
  for (Candidate& candidate : candidates) {
    if (!candidate.source.empty()) continue;
    rendered_.insert(known.extract(candidate.id));
    if (const auto found = rendered_.find(candidate.id); found != rendered_.end()) {
      candidate.source = found->second;
      continue;
    }
    without.push_back(&candidate);
    requests.push_back({{candidate.genome}, {}, {}, settings_.run.seed, 0, 0});
  }
  if (requests.empty()) return;
  std::vector<BredChild> bred = parts_.breeder.Breed(std::move(requests), stop);
  for (std::size_t i = 0; i < without.size() && i < bred.size(); ++i) {
    if (bred[i].genome) without[i]->source = std::move(bred[i].source);
    rendered_[without[i]->id] = without[i]->source;
  }
}

}  // namespace evo
