#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store.h"

namespace evo {

// A run that is in two of the merged databases: their first one has it.
struct SameRun {
  std::string database;  // where it was left out
  RunId run = 0;         // its number there
  RunId kept_as = 0;     // its number in the merged database
};

struct MergeResult {
  int runs = 0;
  std::int64_t candidates = 0;
  std::vector<SameRun> left_out;
};

// Writes all runs of several databases into a new one, in the order in which they are named; runs get new numbers, and what
// refers to them follows. A run that warm-starts from the result finds what it would find in all of them. Brings older ones up to
// date. Throws Error, and UsageError if `out` exists or one of `databases` does not; then there is no new file.
MergeResult MergeDatabases(const std::vector<std::string>& databases, const std::string& out);

}  // namespace evo
