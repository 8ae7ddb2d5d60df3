#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>

#include "core/store.h"

namespace evo {

// What was counted of a candidate, with the generation that it was recorded with.
struct StoredCount {
  int generation = 0;
  CountedElite elite;
};

// In the transaction that is open. A candidate is counted once; a second count of it is left out.
void WriteCounted(SQLite::Database& db, RunId run, const GenerationRecord& record);

// Of a run, by their candidates.
std::map<CandidateId, StoredCount> ReadCounted(SQLite::Database& db, RunId run);

}  // namespace evo
