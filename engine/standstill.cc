#include "engine/standstill.h"

#include <algorithm>

#include "engine/structure_key.h"

namespace evo {

void Standstill::Learn(const GenerationRecord& record, const OperatorSelection& selection, bool baseline_apart) {
  const std::vector<Evaluation>& evaluations = record.evaluations;
  const auto is_ok = [](const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; };
  const bool without_first = baseline_apart && record.generation == 0 && !evaluations.empty() &&
                             std::any_of(evaluations.begin() + 1, evaluations.end(), is_ok);
  latest_ = record.candidates.size();
  since_ += latest_;
  for (std::size_t i = without_first ? 1 : 0; i < record.candidates.size(); ++i) {
    const Candidate& candidate = record.candidates[i];
    const Evaluation& evaluation = evaluations[i];
    if (!is_ok(evaluation)) continue;
    const Individual one{candidate, evaluation.score_ns};
    const auto [known, is_new] =
        fastest_.try_emplace(StructureKey(candidate.genome.template_digest, candidate.genome.edits, selection), one);
    if (!is_new && Precedes(one, known->second)) known->second = one;
    if (!(evaluation.score_ns < (1 - kLeastGain) * to_beat_)) continue;
    to_beat_ = evaluation.score_ns;
    since_ = 0;
  }
}

std::vector<const Individual*> Standstill::Elsewhere() const {
  std::vector<const Individual*> ordered;
  for (const auto& [structure, one] : fastest_) ordered.push_back(&one);
  std::sort(ordered.begin(), ordered.end(), [](const Individual* a, const Individual* b) { return Precedes(*a, *b); });
  if (ordered.empty()) return ordered;
  const double most = kMostSlower * ordered.front()->score_ns;
  std::erase_if(ordered, [&](const Individual* one) { return one->score_ns > most; });
  ordered.erase(ordered.begin());
  return ordered;
}

}  // namespace evo
