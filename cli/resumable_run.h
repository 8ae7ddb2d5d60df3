#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/stored_options.h"
#include "core/store.h"
#include "db/stored_generations.h"

namespace evo {

// A stored run that goes on. Whatever uses it may rely on what LoadResumableRun has checked.
struct ResumableRun {
  RunRecord record;
  StoredOptions options;
  StoredGenerations generations;
};

// Reads a run, by default the latest, and checks everything that was stored of it, before anything uses it. Throws UsageError if
// there is no such run, and Error, which names the database, the run and the candidate and says what to do, if a part of it is
// damaged: a number that no run can have, a template or an option that cannot be read, a history that is not whole (FindDamage).
ResumableRun LoadResumableRun(const std::string& database, std::optional<RunId> run);

}  // namespace evo
