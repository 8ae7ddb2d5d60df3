#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

#include "db/history.h"

namespace evo {

// Whether a candidate passed everything: the search's checks and those of a champion.
bool Passed(const CandidateRecord& record);

// The verdict about a candidate and its evidence: what was checked, on which inputs and sizes, how fast it is beside the
// baseline, and what each tool said.
void PrintVerdict(std::FILE* out, const CandidateRecord& record);
// The same: verdict, passed, outcome, reason, evaluation and check.
nlohmann::ordered_json VerdictJson(const CandidateRecord& record);

}  // namespace evo
