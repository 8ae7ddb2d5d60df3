#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/store.h"
#include "engine/evolution_settings.h"
#include "engine/offspring.h"
#include "engine/selection.h"
#include "engine/standstill.h"
#include "engine/won_edits.h"

namespace evo {

// Decides of which parents a generation's children are to be bred, and by which operators. A function of the run, of the
// population, of the operators' selection and of the generations learnt.
class ChildRequests {
 public:
  // The usual early generations (EvolutionSettings) of a run that knows of structures: what a child tells counts two generations
  // later, and the first hundreds of candidates tell most (docs/adr/0020-structures-first.md).
  static constexpr int kUsualEarlyChildren = 8, kUsualEarlyCandidates = 200;

  // Both outlive this.
  ChildRequests(const EvolutionSettings& settings, const EvolutionParts& parts)
      : settings_(settings), parts_(parts), standstill_(settings.run.children) {}

  // Requests for a generation's children, and the weights of the operators. `made` candidates were made before it.
  Offspring Select(int generation, std::size_t made) const;
  // Adds so many more, as of any generation.
  void Add(Offspring& offspring, std::size_t count) const;
  // How many candidates a generation that is made now may have. The first two of a run that knows of structures are what it has
  // to learn first.
  int Children(int generation, std::size_t made) const;

  // Generations must come in order, from 0, each before the operators' selection learns it.
  void Learn(const GenerationRecord& record);

 private:
  using Weights = std::vector<std::pair<std::string, double>>;

  bool ByStructure() const { return parts_.selection != nullptr && parts_.selection->by_structure(); }
  void LearnLate(const GenerationRecord& record);
  void AddRestructured(Offspring& offspring) const;
  void AddEach(Offspring& offspring, const Candidate& parent, bool restructures) const;
  void AddTuned(Offspring& offspring, std::size_t most) const;
  void AddOtherForms(Offspring& offspring) const;
  void AddUntuned(Offspring& offspring, std::size_t count) const;
  void AddCombined(Offspring& offspring, std::size_t count) const;
  bool AddCombination(Offspring& offspring, const Candidate& parent, std::size_t turn, Rng& rng) const;
  void AddElsewhere(Offspring& offspring, std::size_t count) const;
  void AddChild(Offspring& offspring, Parents parents) const;
  void AddChildOf(Offspring& offspring, const Candidate& parent, Weights operators, std::vector<Edit> alike = {}) const;
  Weights WeightsFor(const Genome& parent, Weights weights) const;

  const EvolutionSettings& settings_;
  const EvolutionParts& parts_;
  std::map<CandidateId, Candidate> templates_;  // as the run began with them
  std::vector<CandidateId> late_;               // those of them that passed their deadline, where no other one is ok
  WonEdits won_;
  Standstill standstill_;
};

}  // namespace evo
