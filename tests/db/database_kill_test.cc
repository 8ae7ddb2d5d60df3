#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "db/history.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using testing::FixtureGenerations;
using testing::FixtureRun;
using testing::TemporaryFolder;

constexpr int kCandidatesPerGeneration = 20;

GenerationRecord LargeGeneration(int number) {
  const GenerationRecord model = FixtureGenerations()[0];
  GenerationRecord generation;
  generation.generation = number;
  for (int i = 0; i < kCandidatesPerGeneration; ++i) {
    Candidate candidate = model.candidates[0];
    candidate.id = number * kCandidatesPerGeneration + i + 1;
    candidate.generation = number;
    candidate.index = i;
    generation.candidates.push_back(candidate);
    generation.evaluations.push_back(model.evaluations[0]);
    generation.evaluations.back().cases[0].samples.assign(2000, 7U);
  }
  return generation;
}

[[noreturn]] void WriteUntilKilled(const std::string& path) {
  SqliteStore store(path);
  const RunId run = store.BeginRun(FixtureRun());
  for (int number = 0;; ++number) store.RecordGeneration(run, LargeGeneration(number));
}

// After a kill -9 at any moment the file opens, is intact, and holds complete generations only.
TEST(DatabaseKill, LeavesCompleteGenerationsOnly) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  std::mt19937 random(20260102);  // NOLINT: the seed is fixed, so that a failure can be repeated
  int generations = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 300));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    SqliteStore reopened(path);
    SQLite::Database db(path, SQLite::OPEN_READWRITE);
    EXPECT_EQ(db.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(db.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
    EXPECT_EQ(db.execAndGet("SELECT count(*) FROM generation AS g WHERE evaluated <> (SELECT count(*) FROM candidate AS c JOIN "
                            "evaluation USING (run, candidate) WHERE c.run = g.run AND c.generation = g.generation)")
                  .getInt(),
              0);
    EXPECT_EQ(db.execAndGet("SELECT count(*) FROM case_measurement").getInt(),
              2 * kCandidatesPerGeneration * db.execAndGet("SELECT count(*) FROM generation").getInt());
    generations = db.execAndGet("SELECT count(*) FROM generation").getInt();
  }
  EXPECT_GT(generations, 5) << "the children were killed before they wrote anything, so that the test shows nothing";
  for (const RunSummary& run : History(path).Runs()) EXPECT_EQ(run.status, RunStatus::kRunning);
}

}  // namespace
}  // namespace evo
