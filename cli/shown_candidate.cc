#include "cli/shown_candidate.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace evo {

CandidateRecord FindShownCandidate(const History& history, RunId run, const std::optional<CandidateId>& id) {
  if (id) return history.FindCandidate(run, *id);
  std::optional<CandidateRecord> best = history.Best(run);
  if (!best) throw UsageError(fmt::format("run {} has no kernel that was shown right; name a candidate", run));
  return std::move(*best);
}

}  // namespace evo
