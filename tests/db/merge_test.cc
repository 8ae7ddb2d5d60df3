#include "db/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "db/upkeep.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Merge : public ::testing::Test {
 protected:
  Merge() : a_((folder_ / "a.db").string()), b_((folder_ / "b.db").string()), c_((folder_ / "c.db").string()) {
    testing::WriteFixture(a_, WithSeed(1));
    testing::WriteFixture(b_, WithSeed(2));
    testing::AddMinimised(b_, 1);
    testing::WriteFixture(b_, WithSeed(3));
  }

  static RunRecord WithSeed(std::uint64_t seed) {
    RunRecord run = testing::FixtureRun();
    run.seed = seed;
    return run;
  }

  static std::vector<std::string> Findings(const std::string& path) {
    std::vector<std::string> findings;
    CheckDatabase(path, [&](const std::string& line) { findings.push_back(line); });
    return findings;
  }

  static std::string One(const std::string& path, const std::string& sql) {
    return SQLite::Database(path).execAndGet(sql).getString();
  }

  testing::TemporaryFolder folder_;
  std::string a_, b_, c_;
};

TEST_F(Merge, HoldsEveryRunWithAllThatBelongsToIt) {
  const MergeResult result = MergeDatabases({a_, b_}, c_);
  EXPECT_EQ(result.runs, 3);
  EXPECT_EQ(result.candidates, 24);
  EXPECT_THAT(result.left_out, IsEmpty());
  EXPECT_THAT(Findings(c_), IsEmpty());
  const History merged(c_);
  const History b(b_);
  EXPECT_EQ(merged.FindRun(2).record.seed, 2U);
  EXPECT_EQ(merged.FindRun(2).started_at, b.FindRun(1).started_at);
  EXPECT_EQ(merged.FindRun(2).record.templates.size(), 1U);
  EXPECT_EQ(merged.Best(2)->candidate.id, b.Best(1)->candidate.id);
  EXPECT_EQ(merged.Best(2)->check->tools.size(), b.Best(1)->check->tools.size());
  EXPECT_EQ(merged.Best(2)->check->candidate[0].samples, b.Best(1)->check->candidate[0].samples);
  EXPECT_EQ(merged.Minimised(2, 10)->edits.size(), 1U);
  for (const CandidateId id : {1, 4, 7, 10}) {
    const CandidateRecord before = b.FindCandidate(1, id);
    const CandidateRecord after = merged.FindCandidate(2, id);
    EXPECT_EQ(after.candidate.genome, before.candidate.genome);
    EXPECT_EQ(after.candidate.parents, before.candidate.parents);
    EXPECT_EQ(after.candidate.dropped, before.candidate.dropped);
    EXPECT_EQ(after.evaluation.log, before.evaluation.log);
    EXPECT_EQ(after.evaluation.cases.size(), before.evaluation.cases.size());
  }
  EXPECT_EQ(merged.Operators(3).size(), b.Operators(2).size());
}

TEST_F(Merge, WarmStartsARunAsItsPartsWould) {
  for (const std::string& path : {a_, b_})
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE evaluation SET program_digest = 'p' || candidate");
  SQLite::Database(b_, SQLite::OPEN_READWRITE)
      .exec("UPDATE evaluation SET shared_run = 1, shared_candidate = 3 WHERE run = 2 AND candidate = 6");
  MergeDatabases({a_, b_}, c_);
  SqliteStore a(a_);
  SqliteStore b(b_);
  SqliteStore c(c_);
  const RunRecord run = testing::FixtureRun();
  EXPECT_EQ(c.LoadKnown(run).size(), a.LoadKnown(run).size() + b.LoadKnown(run).size());
  EXPECT_EQ(c.LoadGenerations(3)[2].evaluations[0].shared_run, 2) << "the copied evaluation is found in the new run";
  std::map<std::string, OperatorReward> sum = a.LoadRewards(run);
  for (const auto& [op, reward] : b.LoadRewards(run)) {
    sum[op].tries += reward.tries;
    sum[op].fresh += reward.fresh;
    sum[op].log_gain += reward.log_gain;
  }
  const auto merged = c.LoadRewards(run);
  ASSERT_EQ(merged.size(), sum.size());
  for (const auto& [op, reward] : merged) {
    EXPECT_EQ(reward.tries, sum[op].tries) << op;
    EXPECT_EQ(reward.fresh, sum[op].fresh) << op;
    EXPECT_NEAR(reward.log_gain, sum[op].log_gain, 1e-12) << op;
  }
}

TEST_F(Merge, ARunThatIsInBothIsKeptOnce) {
  const MergeResult result = MergeDatabases({b_, a_, b_}, c_);
  EXPECT_EQ(result.runs, 3);
  ASSERT_EQ(result.left_out.size(), 2U);
  EXPECT_EQ(result.left_out[1].database, b_);
  EXPECT_EQ(result.left_out[1].run, 2);
  EXPECT_EQ(result.left_out[1].kept_as, 2);
}

TEST_F(Merge, LeavesNoFileIfItFails) {
  EXPECT_THROW(MergeDatabases({a_, (folder_ / "none.db").string()}, c_), UsageError);
  EXPECT_FALSE(std::filesystem::exists(c_));
  EXPECT_THROW(MergeDatabases({a_, b_}, a_), UsageError);
  EXPECT_EQ(History(a_).Runs().size(), 1U);
}

TEST_F(Merge, ACheckNamesWhatIsDamaged) {
  EXPECT_THAT(Findings(b_), IsEmpty());
  SQLite::Database db(b_, SQLite::OPEN_READWRITE);
  db.exec("PRAGMA foreign_keys = OFF");
  db.exec("UPDATE candidate SET genome = '{' WHERE run = 1 AND candidate = 5");
  db.exec("DELETE FROM evaluation WHERE run = 2 AND candidate = 4");
  db.exec("DELETE FROM candidate WHERE run = 2 AND candidate = 1");
  db.exec("UPDATE template SET text = 'x'");
  const auto findings = Findings(b_);
  const auto has = [&](const std::string& part) { EXPECT_THAT(findings, ::testing::Contains(HasSubstr(part))); };
  has("run 1, candidate 5: genome");
  has("run 2, candidate 4: its evaluation is missing");
  has("rows refer to rows of candidate_row that are missing");
  has("run 2: its generation 0 had 2 candidates");
  has("run 2: the sums of its generation 1");
  has("its text is not the one that was stored");
}

TEST_F(Merge, AVacuumRemovesWhatNothingRefersTo) {
  SQLite::Database(b_, SQLite::OPEN_READWRITE)
      .exec(
          "PRAGMA foreign_keys = ON; UPDATE evaluation SET log = hex(randomblob(200000)) WHERE run = 1 AND candidate = 4; "
          "UPDATE evaluation SET log = 'short' WHERE run = 1 AND candidate = 4; DELETE FROM generation_outcome");
  EXPECT_FALSE(Findings(b_).empty());
  const VacuumResult result = VacuumDatabase(b_);
  EXPECT_GE(result.texts_removed, 1);
  EXPECT_LT(result.bytes_after, result.bytes_before - 300'000);
  EXPECT_THAT(Findings(b_), IsEmpty());
  EXPECT_EQ(History(b_).FindCandidate(1, 4).evaluation.log, "short");
  EXPECT_EQ(VacuumDatabase(b_).texts_removed, 0);
}

}  // namespace
}  // namespace evo
