#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/store.h"

namespace evo {

// A part of a stored run that cannot be used.
struct Damage {
  RunId run = 0;
  std::optional<CandidateId> candidate;  // unset: it is the run as a whole
  std::string what;                      // "its genome cannot be read (...)"
};

// Called for each damaged part that a reader comes across. Throws, or else the reader leaves that part out.
using OnDamage = std::function<void(const Damage&)>;

// "evo.db: run 3, candidate 12: its genome cannot be read (...)", without what to do.
std::string Describe(const std::string& database, const Damage& damage);

// An Error that also says what to do.
Error Damaged(const std::string& database, const Damage& damage);

// What makes it impossible to go on after these generations of the run, the first such thing. What the store gives back, and a
// run under way, is whole: generations from 0 without gaps, the templates first, ids that ascend, earlier parents, and a time for
// every candidate that is ok.
std::optional<Damage> FindDamage(RunId run, const std::vector<GenerationRecord>& generations);

}  // namespace evo
