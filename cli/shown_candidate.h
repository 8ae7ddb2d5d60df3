#pragma once

#include <optional>

#include "db/history.h"

namespace evo {

// The candidate that a command names; without one the best of the run. Throws UsageError if the run has no such candidate.
CandidateRecord FindShownCandidate(const History& history, RunId run, const std::optional<CandidateId>& id);

}  // namespace evo
