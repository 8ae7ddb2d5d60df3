#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/store.h"

namespace evo {

// What the store and the history both read from a database.

std::string_view ToString(RunStatus status);
RunStatus ParseRunStatus(std::string_view text);

struct StoredCandidate {
  Candidate candidate;  // without its source
  Evaluation evaluation;
};

// Candidates of a run that meet `condition`, an SQL expression over candidate AS c and evaluation AS e (constant text, never a
// user's), in the order `order`. Throws Error for a row that this version cannot understand.
std::vector<StoredCandidate> ReadCandidates(SQLite::Database& db, RunId run, const std::string& condition,
                                            const std::string& order, const std::vector<std::string>& values);

}  // namespace evo
