#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store.h"
#include "db/damage.h"
#include "db/stored_generations.h"

namespace evo {

// What the store and the history both read from a database.

std::string_view ToString(RunStatus status);
RunStatus ParseRunStatus(std::string_view text);

struct StoredCandidate {
  Candidate candidate;  // without its source, and of its genome without parameters and edits
  Evaluation evaluation;
  GenomeParts genome;
};

// The condition and the order of all candidates of a run. They are read fastest.
inline constexpr const char* kEveryCandidate = "TRUE";
inline constexpr const char* kById = "c.candidate";

// Visits the candidates of a run that meet `condition`, an SQL expression over candidate_row AS c and evaluation AS e (constant
// text, never a user's), in the order `order`, one after another: only one is in memory. Those that this version cannot read go
// to `damaged` instead.
void VisitCandidates(SQLite::Database& db, RunId run, const std::string& condition, const std::string& order,
                     const std::vector<std::string>& values, const OnDamage& damaged,
                     const std::function<void(StoredCandidate)>& visit);

// Visits evaluations in the order of their candidates, likewise, without the genomes: `condition` is over evaluation AS e.
void VisitEvaluations(SQLite::Database& db, RunId run, const std::string& condition, const OnDamage& damaged,
                      const std::function<void(CandidateId, Evaluation)>& visit);

// How many are ok.
int CountValid(const std::vector<Evaluation>& evaluations);

// The generations of a run in their order, whole as FindDamage says. The first damage goes to `damaged`, which must throw.
StoredGenerations ReadGenerations(SQLite::Database& db, RunId run, const OnDamage& damaged);

}  // namespace evo
