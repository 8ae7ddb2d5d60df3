#include "engine/standstill.h"

#include <algorithm>

#include "engine/structure_key.h"

namespace evo {
namespace {

bool BringsParameters(const Genome& genome) {
  return std::any_of(genome.edits.begin(), genome.edits.end(), [](const Edit& edit) { return !edit.brings.empty(); });
}

}  // namespace

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
    const std::string key = StructureKey(candidate.genome.template_digest, candidate.genome.edits, selection);
    const auto known = structures_.find(key);
    if (known != structures_.end() && SetsParameters(candidate.op)) ++known->second.settings;
    if (!is_ok(evaluation)) continue;
    const Individual one{candidate, evaluation.score_ns};
    if (known == structures_.end())
      structures_.emplace(key, Structure{one, 1});
    else if (Precedes(one, known->second.fastest))
      known->second.fastest = one;
    if (!(evaluation.score_ns < (1 - kLeastGain) * to_beat_)) continue;
    to_beat_ = evaluation.score_ns;
    since_ = 0;
  }
}

std::vector<const Standstill::Structure*> Standstill::Others() const {
  std::vector<const Structure*> ordered;
  for (const auto& [key, structure] : structures_) ordered.push_back(&structure);
  std::sort(ordered.begin(), ordered.end(),
            [](const Structure* a, const Structure* b) { return Precedes(a->fastest, b->fastest); });
  if (ordered.empty()) return ordered;
  const double most = kMostSlower * ordered.front()->fastest.score_ns;
  std::erase_if(ordered, [&](const Structure* one) { return one->fastest.score_ns > most; });
  ordered.erase(ordered.begin());
  return ordered;
}

std::vector<const Individual*> Standstill::Elsewhere() const {
  std::vector<const Individual*> fastest;
  for (const Structure* one : Others()) fastest.push_back(&one->fastest);
  return fastest;
}

std::vector<const Individual*> Standstill::Untuned() const {
  std::vector<const Individual*> untuned;
  for (const Structure* one : Others()) {
    if (one->settings < kSettings && BringsParameters(one->fastest.candidate.genome)) untuned.push_back(&one->fastest);
  }
  return untuned;
}

}  // namespace evo
