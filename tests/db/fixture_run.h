#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/store.h"

namespace evo::testing {

// A small run with one of everything: seven candidates in three generations, a crossover, failures, a dropped edit, a champion
// that passed its check (6) and a faster one that failed it (7).
RunRecord FixtureRun();
std::vector<GenerationRecord> FixtureGenerations();
ChampionCheck PassedCheck();
ChampionCheck FailedCheck();

// Writes all of it, with fixed times, to a new database. Returns the run.
RunId WriteFixture(const std::filesystem::path& database, const RunRecord& run);

// Adds to it what minimising candidate 7 left: 10 with its first edit only, a little slower, checked, which lacks that edit in 8
// (slower) and the other in 9 (wrong). Candidate 7 counts as checked.
void AddMinimised(const std::filesystem::path& database, RunId run);

// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace evo::testing
