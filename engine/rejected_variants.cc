#include "engine/rejected_variants.h"

#include <algorithm>

namespace evo {

RejectedVariants::RejectedVariants(const std::vector<Trial>& rejected, std::size_t champion_edits) {
  for (const Trial& trial : rejected) {
    if (!trial.evaluation.program_digest.empty()) programs_.insert(trial.evaluation.program_digest);
    fewest_edits_ = std::max(fewest_edits_, (trial.candidate.genome.edits.size() + champion_edits + 1) / 2);
  }
}

bool RejectedVariants::Allow(const Trial& trial) const {
  return trial.candidate.genome.edits.size() >= fewest_edits_ && !programs_.contains(trial.evaluation.program_digest);
}

}  // namespace evo
