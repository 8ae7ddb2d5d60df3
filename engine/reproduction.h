#pragma once

#include <cstddef>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/store.h"
#include "engine/child_requests.h"
#include "engine/evolution_settings.h"
#include "engine/neutral_edits.h"
#include "engine/offspring.h"
#include "engine/stop_condition.h"

namespace evo {

// The operator of generation 0, the templates at their default parameters.
inline constexpr const char* kDefault = "default";
// The operator of a child that is its parent with edits that won on others (engine/won_edits.h).
inline constexpr const char* kCombine = "combine";

// Makes the candidates of a run: selects parents, breeds children from them, drops the children that are nothing new and ranks
// the others. A function of the run, of the population and of the generations learnt or reserved: a resumed run makes the same
// candidates.
class Reproduction {
 public:
  // Both outlive this.
  Reproduction(const EvolutionSettings& settings, const EvolutionParts& parts)
      : settings_(settings), parts_(parts), requests_(settings, parts) {}

  // Generation 0: every template at its default parameters. Fewer if interrupted. Throws Error if one cannot be rendered.
  GenerationRecord Defaults(const std::stop_token& stop);

  // The four steps from the population to the candidates of a generation, in this order.
  // Parents of the generation's children, and the weights of the operators.
  Offspring Select(int generation) const { return requests_.Select(generation, made_); }
  // Children of the parents that were selected.
  void Breed(Offspring& offspring, const std::stop_token& stop) const;
  // Finds the children that are new. Others are bred in the place of those that are not, a few times.
  void DropSeen(Offspring& offspring, const StopCondition& stop) const;
  // The new children that are to be evaluated, as many as the run has for a generation at most. Their ids are given in order.
  GenerationRecord Rank(Offspring offspring, const StopCondition& stop);

  // All four steps.
  GenerationRecord Reproduce(int generation, const StopCondition& stop);

  // Takes the ids and the sources of a recorded generation, which are not given again. It may be learnt later: in a resumed run
  // the last generation is, because of the lag.
  void Reserve(const GenerationRecord& record);
  // What an evaluated generation says of operators, of edits and of children to be chosen. Generations must come in order, from
  // 0.
  void Learn(const GenerationRecord& record);

 private:
  void Inspect(Offspring& offspring) const;
  std::vector<std::size_t> TakeTuned(Offspring& offspring, std::size_t most) const;
  Candidate MakeCandidate(Offspring& offspring, std::size_t child);

  const EvolutionSettings& settings_;
  const EvolutionParts& parts_;
  NeutralEdits neutral_;
  ChildRequests requests_;
  std::set<std::string> seen_;  // digests of the sources that were evaluated or will be
  std::size_t made_ = 0;        // candidates of the evolution, trials of minimisation left out
  CandidateId next_id_ = 1;
};

}  // namespace evo
