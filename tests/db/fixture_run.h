#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/store.h"

namespace evo::testing {

// A small run with a little of everything: seven candidates in three generations, a crossover, failures, a dropped edit, a
// champion that passed its check (6) and a faster one that failed it (7).
RunRecord FixtureRun();
std::vector<GenerationRecord> FixtureGenerations();
ChampionCheck PassedCheck();
ChampionCheck FailedCheck();

// Writes the whole run, with fixed times of day, to a new database. Returns its number.
RunId WriteFixture(const std::filesystem::path& database, const RunRecord& run);

// Adds the minimisation of candidate 7, which then has passed its check. The result is candidate 10, a little slower, with only
// the first edit, and checked. Candidate 8 has no edit and is slower; candidate 9 has only the second edit and is wrong.
void AddMinimised(const std::filesystem::path& database, RunId run);

// A temporary folder, removed with its content.
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
