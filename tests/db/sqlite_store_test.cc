#include "db/sqlite_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/record_json.h"
#include "db/database.h"
#include "db/history.h"
#include "db/rows.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using testing::FixtureGenerations;
using testing::FixtureRun;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

void ExpectSameGeneration(const GenerationRecord& a, const GenerationRecord& b) {
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.duplicates, b.duplicates);
  EXPECT_EQ(a.inapplicable, b.inapplicable);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].id, b.candidates[i].id);
    EXPECT_EQ(a.candidates[i].generation, b.candidates[i].generation);
    EXPECT_EQ(a.candidates[i].index, b.candidates[i].index);
    EXPECT_EQ(a.candidates[i].genome, b.candidates[i].genome);
    EXPECT_EQ(a.candidates[i].parents, b.candidates[i].parents);
    EXPECT_EQ(a.candidates[i].op, b.candidates[i].op);
    EXPECT_EQ(a.candidates[i].dropped, b.candidates[i].dropped);
    EXPECT_TRUE(b.candidates[i].source.empty());
    EXPECT_EQ(nlohmann::json(a.evaluations[i]), nlohmann::json(b.evaluations[i]));
  }
}

TEST(SqliteStore, GivesBackExactlyWhatItWasGiven) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  const std::vector<GenerationRecord> written = FixtureGenerations();
  for (const GenerationRecord& generation : written) store.RecordGeneration(run, generation);
  const std::vector<GenerationRecord> read = store.LoadGenerations(run);
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) ExpectSameGeneration(written[i], read[i]);
}

TEST(SqliteStore, KeepsTextThatIsNotUtf8AndValuesThatAreNotFinite) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  generation.evaluations[0].log = std::string("a\xff\0b", 4);
  generation.evaluations[0].cases[0].max_error = std::numeric_limits<double>::infinity();
  generation.evaluations[0].cases[0].samples.clear();
  generation.evaluations[1].score_ns = 5e-324;
  store.RecordGeneration(run, generation);
  ExpectSameGeneration(generation, store.LoadGenerations(run).at(0));
}

TEST(SqliteStore, KeepsTheSamplesOfASharedEvaluationOnceAndGivesThemToBoth) {
  const TemporaryFolder folder;
  const std::string file = (folder / "evo.db").string();
  SqliteStore store(file);
  const RunId run = store.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  ASSERT_GE(generation.candidates.size(), 2u);
  const std::vector<CaseMeasurement> measured = generation.evaluations[0].cases;
  ASSERT_FALSE(measured[0].samples.empty());
  generation.evaluations[1] = generation.evaluations[0];
  generation.evaluations[1].shared_candidate = generation.candidates[0].id;
  store.RecordGeneration(run, generation);
  const GenerationRecord read = store.LoadGenerations(run).at(0);
  for (const Evaluation& evaluation : read.evaluations) EXPECT_EQ(evaluation.cases[0].samples, measured[0].samples);
  SQLite::Database database(file);
  SQLite::Statement stored(database, "SELECT count(*) FROM case_measurement WHERE length(samples) > 0 AND position = 0");
  ASSERT_TRUE(stored.executeStep());
  EXPECT_EQ(stored.getColumn(0).getInt(), 1);
}

TEST(SqliteStore, KeepsTheSamplesOfACopyWhoseOriginalIsNotStoredYet) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  generation.evaluations[0].shared_candidate = generation.candidates.back().id + 1;
  const auto samples = generation.evaluations[0].cases[0].samples;
  ASSERT_FALSE(samples.empty());
  store.RecordGeneration(run, generation);
  EXPECT_EQ(store.LoadGenerations(run).at(0).evaluations[0].cases[0].samples, samples);
}

TEST(SqliteStore, KeepsRunsApartAndATemplateOnce) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId first = store.BeginRun(FixtureRun());
  const RunId second = store.BeginRun(FixtureRun());
  EXPECT_NE(first, second);
  store.RecordGeneration(first, FixtureGenerations()[0]);
  EXPECT_TRUE(store.LoadGenerations(second).empty());
  SQLite::Database db((folder / "evo.db").string());
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM template").getInt(), 1);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM run_template").getInt(), 2);
}

TEST(SqliteStore, AGenerationIsWrittenCompletelyOrNotAtAll) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  store.RecordGeneration(run, FixtureGenerations()[0]);
  GenerationRecord broken = FixtureGenerations()[1];
  broken.candidates[2].id = broken.candidates[1].id;
  EXPECT_THROW(store.RecordGeneration(run, broken), Error);
  GenerationRecord orphan = FixtureGenerations()[1];
  orphan.candidates[0].parents = {77};
  EXPECT_THROW(store.RecordGeneration(run, orphan), Error);
  EXPECT_EQ(store.LoadGenerations(run).size(), 1U);
  store.RecordGeneration(run, FixtureGenerations()[1]);
  EXPECT_EQ(store.LoadGenerations(run).size(), 2U);
}

TEST(SqliteStore, AResumedRunIsRunningAgain) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  SQLite::Database db((folder / "evo.db").string());
  const auto status = [&] {
    return db.execAndGet("SELECT status || ' ' || status_message || ' ' || (ended_at IS NULL) FROM run").getString();
  };
  EXPECT_EQ(status(), "running  1");
  store.EndRun(run, RunStatus::kInterrupted, "Ctrl-C");
  EXPECT_EQ(status(), "interrupted Ctrl-C 0");
  store.RecordGeneration(run, FixtureGenerations()[0]);
  EXPECT_EQ(status(), "running  1");
}

TEST(SqliteStore, UpdateGenerationsChangesOneRunOnly) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  SqliteStore store(path);
  const RunId first = store.BeginRun(FixtureRun());
  const RunId second = store.BeginRun(FixtureRun());
  store.UpdateGenerations(second, 70);
  EXPECT_EQ(History(path).FindRun(first).record.generations, FixtureRun().generations);
  EXPECT_EQ(History(path).FindRun(second).record.generations, 70);
}

TEST(RunStatus, IsReadAsItIsSpelled) {
  for (const RunStatus status : {RunStatus::kRunning, RunStatus::kFinished, RunStatus::kInterrupted, RunStatus::kFailed}) {
    EXPECT_EQ(ParseRunStatus(ToString(status)), status);
  }
  EXPECT_THROW(ParseRunStatus("paused"), Error);
}

TEST(LoadRewards, CountsFinishedRunsOfTheTaskOnTheDevice) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  const RunRecord run = FixtureRun();
  SqliteStore store(path);
  EXPECT_TRUE(store.LoadRewards(run).empty());
  const RunId going = store.BeginRun(run);
  for (const GenerationRecord& generation : FixtureGenerations()) store.RecordGeneration(going, generation);
  EXPECT_TRUE(store.LoadRewards(run).empty()) << "not finished";
  store.EndRun(going, RunStatus::kFinished, "");
  const auto rewards = store.LoadRewards(run);
  ASSERT_EQ(rewards.size(), 4U);
  const OperatorReward& parameter = rewards.at("set_parameter");
  EXPECT_EQ(parameter.tries, 2);
  EXPECT_EQ(parameter.fresh, 2);
  EXPECT_GT(parameter.log_gain, 0);
  EXPECT_EQ(rewards.at("delete_statement").fresh, 1);
  RunRecord other = run;
  other.task_digest = "changed";
  EXPECT_EQ(store.LoadRewards(other).size(), 4U) << "by its name";
  other.task = "another";
  EXPECT_TRUE(store.LoadRewards(other).empty());
  other = run;
  other.device_name = "another GPU";
  EXPECT_TRUE(store.LoadRewards(other).empty());
}

TEST(LoadRewards, OfAKindAreThoseOfOtherTasksWithTheSameKernel) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  RunRecord run = FixtureRun();
  run.options = R"({"kernel_kind":"rows"})";
  const RunId first = store.BeginRun(run);
  for (const GenerationRecord& generation : FixtureGenerations()) store.RecordGeneration(first, generation);
  store.EndRun(first, RunStatus::kFinished, "");
  RunRecord other = run;
  other.task = "another";
  other.task_digest = "of another";
  const auto rewards = store.LoadRewardsOfKind(other, "rows");
  ASSERT_EQ(rewards.size(), 4U);
  EXPECT_EQ(rewards.at("set_parameter").tries, 2);
  EXPECT_TRUE(store.LoadRewardsOfKind(other, "contraction").empty());
  other.device_name = "another GPU";
  EXPECT_TRUE(store.LoadRewardsOfKind(other, "rows").empty());
  // Ten children of each operator at most.
  other = run;
  for (int i = 0; i < 10; ++i) {
    const RunId next = store.BeginRun(run);
    for (const GenerationRecord& generation : FixtureGenerations()) store.RecordGeneration(next, generation);
    store.EndRun(next, RunStatus::kFinished, "");
  }
  EXPECT_DOUBLE_EQ(store.LoadRewardsOfKind(other, "rows").at("set_parameter").tries, 10);
}

TEST(LoadRewards, ByBottleneckAreThoseOfAllTasksOnTheDevice) {
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  const RunRecord run = FixtureRun();
  SqliteStore store(path);
  std::vector<GenerationRecord> generations = FixtureGenerations();
  generations[0].evaluations[0].bottleneck = Bottleneck::kDram;     // of candidate 1, the parent of 2
  generations[0].evaluations[1].bottleneck = Bottleneck::kBarrier;  // of candidate 2, the parent of 3, 4 and 5
  const RunId first = store.BeginRun(run);
  for (const GenerationRecord& generation : generations) store.RecordGeneration(first, generation);
  EXPECT_TRUE(store.LoadRewardsByBottleneck(run).empty()) << "not finished";
  store.EndRun(first, RunStatus::kFinished, "");
  RunRecord other = run;
  other.task = "another";
  other.task_digest = "of another";
  const RewardsByBottleneck rewards = store.LoadRewardsByBottleneck(other);
  ASSERT_EQ(rewards.size(), 2U) << "what has no bottleneck is left out";
  ASSERT_EQ(rewards.at("dram").size(), 1U);
  EXPECT_EQ(rewards.at("dram").at("set_parameter").tries, 1);
  EXPECT_GT(rewards.at("dram").at("set_parameter").log_gain, 0);
  EXPECT_EQ(rewards.at("barrier").size(), 3U);
  EXPECT_EQ(rewards.at("barrier").at("use_fmaf").fresh, 1);
  EXPECT_EQ(rewards.at("barrier").at("crossover").fresh, 0);
  const auto db = OpenForReading(path);
  SQLite::Statement row(
      *db, "SELECT tries, valid, improving FROM operator_by_bottleneck WHERE bottleneck = 'barrier' AND operator = 'use_fmaf'");
  ASSERT_TRUE(row.executeStep());
  for (int column = 0; column < 3; ++column) EXPECT_EQ(row.getColumn(column).getInt(), 1) << column;
  other.device_name = "another GPU";
  EXPECT_TRUE(store.LoadRewardsByBottleneck(other).empty());
}

TEST(LoadCounterexamples, AreThoseThatTheViewHasOfTheTask) {
  const TemporaryFolder folder;
  const std::string file = (folder / "evo.db").string();
  SqliteStore store(file);
  RunRecord run = FixtureRun();
  for (const char* digest : {"a", "b"}) {
    run.task_digest = digest;
    const RunId id = store.BeginRun(run);
    for (GenerationRecord& generation : FixtureGenerations()) {
      for (std::size_t i = 0; i < generation.evaluations.size(); ++i)
        generation.evaluations[i].counterexample = {i == 0 ? digest : "small", static_cast<int>(i % 2), 7 + i, ""};
      store.RecordGeneration(id, generation);
    }
  }
  const std::vector<Counterexample> found = store.LoadCounterexamples("b");
  SQLite::Database db(file);
  SQLite::Statement row(db,
                        "SELECT failed_case, failed_generator, failed_seed, failed_inputs FROM task_counterexample WHERE "
                        "task_digest = 'b' ORDER BY candidates DESC, failed_case, failed_generator, failed_inputs");
  std::size_t i = 0;
  for (; row.executeStep(); ++i) {
    ASSERT_LT(i, found.size());
    EXPECT_EQ(found[i].case_name, row.getColumn(0).getString());
    EXPECT_EQ(found[i].generator, row.getColumn(1).getInt());
    EXPECT_EQ(std::to_string(found[i].seed), row.getColumn(2).getString());
    EXPECT_EQ(found[i].inputs, row.getColumn(3).getString());
  }
  EXPECT_EQ(found.size(), i);
  EXPECT_GE(i, 2U);
  EXPECT_TRUE(store.LoadCounterexamples("c").empty());
}

}  // namespace
}  // namespace evo
