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

// Chooses the candidates whose class the hardware's counters are to say: those of the population that have not been counted. All
// of them, because some cannot be counted, and the others must not wait for these.
class EliteChoice {
 public:
  // Both outlive this.
  EliteChoice(const EvolutionSettings& settings, const EvolutionParts& parts) : settings_(settings), parts_(parts) {}

  // The fastest first, because these are parents most often, with their sources. Empty where classes make no difference to the
  // search.
  std::vector<Candidate> ToCount(const std::stop_token& stop);

  // Generations must come in order, from 0.
  void Learn(const GenerationRecord& record);

 private:
  void Render(std::vector<Candidate>& candidates, const std::stop_token& stop);

  const EvolutionSettings& settings_;
  const EvolutionParts& parts_;
  std::set<CandidateId> counted_;
  std::map<CandidateId, std::string> rendered_;  // sources of members that were read back from the store
};

}  // namespace evo
