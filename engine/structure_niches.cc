#include "engine/structure_niches.h"

#include <algorithm>

namespace evo {

std::string StructureOf(const Genome& genome) {
  std::vector<std::string> edits;
  for (const Edit& edit : genome.edits) {
    if (!edit.brings.empty()) edits.push_back(edit.op);
  }
  std::sort(edits.begin(), edits.end());
  std::string structure = genome.template_name;
  for (const std::string& op : edits) structure += "+" + op;
  return structure;
}

void StructureNichePopulation::Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) {
  elite_.Survive(candidates, evaluations);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string structure = StructureOf(candidates[i].genome);
    const bool ok = evaluations[i].outcome == Outcome::kOk;
    const bool is_new = ok && known_.insert(structure).second;
    auto niche = std::find_if(niches_.begin(), niches_.end(), [&](const Niche& one) { return one.structure == structure; });
    // Templates, and what is the fastest as it is, need none.
    const bool slower = !members().empty() && evaluations[i].score_ns > members().front().score_ns;
    if (niche == niches_.end() && is_new && slower && candidates[i].generation > 0)
      niche = niches_.insert(niches_.end(), {structure, {}, budget_ + 1});
    if (niche == niches_.end()) continue;
    --niche->left;
    if (!ok) continue;
    niche->members.push_back({candidates[i], evaluations[i].score_ns, evaluations[i].clocks.compile_ms});
    std::sort(niche->members.begin(), niche->members.end(), Precedes);
    if (niche->members.size() > kNicheCapacity) niche->members.resize(kNicheCapacity);
  }
  std::erase_if(niches_, [](const Niche& niche) { return niche.left <= 0; });
}

// Every other place, of one niche after another.
const StructureNichePopulation::Niche* StructureNichePopulation::NicheAt(std::size_t index) const {
  if (niches_.empty() || index % 2 == 0) return nullptr;
  return &niches_[index / 2 % std::min(kServed, niches_.size())];
}

const std::vector<Individual>& StructureNichePopulation::Mates(std::size_t index) const {
  const Niche* niche = NicheAt(index);
  return niche == nullptr ? members() : niche->members;
}

std::size_t StructureNichePopulation::TuningChildren() const {
  std::size_t children = 0;
  for (std::size_t i = 0; i < std::min(kServed, niches_.size()); ++i) children += static_cast<std::size_t>(niches_[i].left);
  return children;
}

}  // namespace evo
