#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/store.h"

namespace evo::testing {

// A small run with one of everything: seven candidates in three generations, a crossover, failures, a dropped edit, a champion that
// passed its check (6) and a faster one that failed it (7).
RunRecord FixtureRun();
std::vector<GenerationRecord> FixtureGenerations();
ChampionCheck PassedCheck();
ChampionCheck FailedCheck();

// Writes all of it, with fixed times, to a new database. Returns the run.
RunId WriteFixture(const std::filesystem::path& database, const RunRecord& run);

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
