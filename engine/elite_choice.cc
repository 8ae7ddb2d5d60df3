#include "engine/elite_choice.h"

#include <utility>

#include "core/counted_diagnosis.h"

namespace evo {

std::vector<Candidate> EliteChoice::ToCount(const std::stop_token& stop) {
  std::vector<Candidate> elites;
  if (parts_.selection == nullptr || !parts_.selection->by_bottleneck()) return elites;
  for (const Individual& member : parts_.population.members()) {
    if (elites.size() == kElites) break;
    const CandidateId id = member.candidate.id;
    if (counted_.contains(id) || !CountersTellMoreThan(parts_.selection->BottleneckOf(id))) continue;
    Candidate elite = member.candidate;
    if (Render(elite, stop)) elites.push_back(std::move(elite));
  }
  return elites;
}

void EliteChoice::Learn(const GenerationRecord& record) {
  for (const CountedElite& one : record.counted) counted_.insert(one.candidate);
}

// Candidates of a resumed run have no source. False if there is none to be had.
bool EliteChoice::Render(Candidate& candidate, const std::stop_token& stop) {
  if (!candidate.source.empty()) return true;
  std::string& source = rendered_[candidate.id];
  if (source.empty()) {
    std::vector<BredChild> bred =
        parts_.breeder.Breed({BreedRequest{{candidate.genome}, {}, {}, settings_.run.seed, 0, 0}}, stop);
    if (!bred.empty() && bred.front().genome) source = std::move(bred.front().source);
  }
  candidate.source = source;
  return !source.empty();
}

}  // namespace evo
