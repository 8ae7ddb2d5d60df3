#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/store.h"
#include "engine/evolution_settings.h"

namespace evo {

// Chooses the candidates whose class the hardware's counters are to say: the fastest of the population, because these are parents
// most often, until they have been counted.
class EliteChoice {
 public:
  // So many are asked for at a time.
  static constexpr std::size_t kElites = 3;

  // Both outlive this.
  EliteChoice(const EvolutionSettings& settings, const EvolutionParts& parts) : settings_(settings), parts_(parts) {}

  // The fastest first, with their sources. Empty where classes make no difference to the search.
  std::vector<Candidate> ToCount(const std::stop_token& stop);

  // Generations must come in order, from 0.
  void Learn(const GenerationRecord& record);

 private:
  bool Render(Candidate& candidate, const std::stop_token& stop);

  const EvolutionSettings& settings_;
  const EvolutionParts& parts_;
  std::set<CandidateId> counted_;
  std::map<CandidateId, std::string> rendered_;  // sources of candidates that were read back from the store
};

}  // namespace evo
