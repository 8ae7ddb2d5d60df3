#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>

#include "core/store.h"

namespace evo {

// The latest champion check of a candidate that was not cancelled. Throws Error for a value that this version does not know.
std::optional<ChampionCheck> ReadLatestCheck(SQLite::Database& db, RunId run, CandidateId id);

}  // namespace evo
