#include "db/history.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/error.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using testing::FixtureGenerations;
using testing::FixtureRun;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

template <typename Failure>
std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() : path_((folder_ / "evo.db").string()), run_(testing::WriteFixture(path_, FixtureRun())) {}

  std::vector<CandidateId> Ids(const std::vector<CandidateRecord>& records) {
    std::vector<CandidateId> ids;
    for (const CandidateRecord& record : records) ids.push_back(record.candidate.id);
    return ids;
  }

  TemporaryFolder folder_;
  std::string path_;
  RunId run_;
};

TEST_F(HistoryTest, ReadsTheRunWhole) {
  const RunSummary run = History(path_).FindRun(std::nullopt);
  const RunRecord expected = FixtureRun();
  EXPECT_EQ(run.record.id, run_);
  EXPECT_EQ(run.record.seed, expected.seed);
  EXPECT_EQ(run.record.operators, expected.operators);
  EXPECT_EQ(run.record.options, expected.options);
  EXPECT_EQ(run.record.arch, "sm_90a");
  ASSERT_EQ(run.record.templates.size(), 1U);
  EXPECT_EQ(run.record.templates[0].text, expected.templates[0].text);
  EXPECT_EQ(run.record.templates[0].digest, expected.templates[0].digest);
  EXPECT_EQ(run.status, RunStatus::kFinished);
  EXPECT_EQ(run.started_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(run.generations_done, 3);
  EXPECT_EQ(run.evaluated, 7);
  EXPECT_EQ(run.valid, 5);
}

TEST_F(HistoryTest, BestIsTheFastestThatPassedItsCheck) {
  const std::optional<CandidateRecord> best = History(path_).Best(run_);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->candidate.id, 6);
  ASSERT_TRUE(best->check);
  EXPECT_EQ(best->check->outcome, Outcome::kOk);
  EXPECT_EQ(best->check->speedup, testing::PassedCheck().speedup);
  EXPECT_THAT(best->check->held_out_cases, ElementsAre("ragged", "huge"));
  ASSERT_EQ(best->check->candidate.size(), 2U);
  EXPECT_EQ(best->check->candidate[1].median_ns, 2910);
  EXPECT_EQ(best->check->baseline[0].samples.size(), 3U);
  EXPECT_EQ(best->check->slowest.ratio, 1.1);
  EXPECT_EQ(best->check->slowest.inputs, "case large, generator 1");
  EXPECT_EQ(best->check->fresh_ratio, 1.01);
  EXPECT_EQ(best->check->reference, "model.py");
  EXPECT_EQ(best->check->reference_ms, 0.25);
  EXPECT_EQ(best->check->took, "inputs 1.5 s, search 20.0 s");
}

TEST_F(HistoryTest, BestIsTheFastestMinimised) {
  testing::AddMinimised(path_, run_);
  const History history(path_);
  EXPECT_EQ(history.Best(run_)->candidate.id, 10) << "7 was timed a little faster";
  const auto form = history.Minimised(run_, 10);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->champion, 7);
  EXPECT_EQ(form->champion_edits, 2);
  ASSERT_EQ(form->edits.size(), 1U);
  EXPECT_EQ(form->edits[0].without, 8);
  EXPECT_EQ(form->edits[0].outcome, Outcome::kOk);
  EXPECT_DOUBLE_EQ(form->edits[0].worth, 1.5);
  EXPECT_FALSE(history.Minimised(run_, 7));
  EXPECT_EQ(history.FindRun(run_).generations_done, 3) << "generations of trials do not count";
  EXPECT_EQ(history.FindRun(run_).evaluated, 10);
}

TEST_F(HistoryTest, AMinimisedChampionThatFailsALaterCheckIsNotBest) {
  testing::AddMinimised(path_, run_);
  SqliteStore(path_).RecordChampion(run_, 10, testing::FailedCheck());
  EXPECT_EQ(History(path_).Best(run_)->candidate.id, 7);
}

TEST_F(HistoryTest, TheLatestMinimisationOfAChampionCounts) {
  testing::AddMinimised(path_, run_);
  SqliteStore(path_).RecordMinimised(run_, 7, 7, {9, 0});
  const History history(path_);
  EXPECT_EQ(history.Best(run_)->candidate.id, 7);
  EXPECT_FALSE(history.Minimised(run_, 10));
  const auto form = history.Minimised(run_, 7);
  ASSERT_TRUE(form);
  ASSERT_EQ(form->edits.size(), 2U);
  EXPECT_EQ(form->edits[0].outcome, Outcome::kWrongResult);
  EXPECT_TRUE(std::isnan(form->edits[0].worth));
  EXPECT_EQ(form->edits[1].without, 0);
  EXPECT_FALSE(form->edits[1].outcome);
  EXPECT_THROW(SqliteStore(path_).RecordMinimised(run_, 7, 99, {}), Error);
}

TEST_F(HistoryTest, ALaterCheckCountsAndACancelledOneDoesNot) {
  SqliteStore store(path_);
  store.RecordChampion(run_, 7, testing::PassedCheck());
  EXPECT_EQ(History(path_).Best(run_)->candidate.id, 7);
  store.RecordChampion(run_, 7, ChampionCheck{});
  EXPECT_EQ(History(path_).Best(run_)->candidate.id, 7);
  store.RecordChampion(run_, 7, testing::FailedCheck());
  EXPECT_EQ(History(path_).Best(run_)->candidate.id, 6);
}

TEST_F(HistoryTest, WithoutAnyCheckBestIsTheFastest) {
  SqliteStore store(path_);
  const RunId unchecked = store.BeginRun(FixtureRun());
  EXPECT_FALSE(History(path_).Best(unchecked));
  store.RecordGeneration(unchecked, FixtureGenerations()[0]);
  const auto best = History(path_).Best(unchecked);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->candidate.id, 2);
  EXPECT_FALSE(best->check);
}

TEST_F(HistoryTest, FiltersAndOrdersCandidates) {
  const History history(path_);
  EXPECT_THAT(Ids(history.Candidates(run_, {})), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Ids(history.Candidates(run_, {.outcome = Outcome::kOk, .fastest_first = true})), ElementsAre(7, 6, 3, 2, 1));
  EXPECT_THAT(Ids(history.Candidates(run_, {.op = "set_parameter"})), ElementsAre(2, 6));
  EXPECT_THAT(Ids(history.Candidates(run_, {.template_name = "' OR 1 --"})), ElementsAre());
  EXPECT_EQ(history.Baseline(run_)->candidate.id, 1);
}

TEST_F(HistoryTest, LineageGoesFromTheFirstAncestorToTheCandidate) {
  const History history(path_);
  EXPECT_THAT(Ids(history.Lineage(run_, 6)), ElementsAre(1, 2, 3, 6));
  EXPECT_THAT(Ids(history.Lineage(run_, 1)), ElementsAre(1));
}

TEST_F(HistoryTest, SumsGenerationsOperatorsAndClocks) {
  const History history(path_);
  const std::vector<GenerationRow> generations = history.Generations(run_);
  ASSERT_EQ(generations.size(), 3U);
  EXPECT_EQ(generations[1].duplicates, 2);
  EXPECT_EQ(generations[1].outcomes, (std::map<std::string, int>{{"ok", 1}, {"compile_error", 1}, {"wrong_result", 1}}));
  EXPECT_EQ(generations[2].best_so_far_ns, FixtureGenerations()[2].evaluations[0].score_ns) << "7 failed its check";
  const std::vector<OperatorRow> operators = history.Operators(run_);
  ASSERT_EQ(operators.size(), 6U);
  EXPECT_EQ(operators[1].op, "set_parameter");
  EXPECT_EQ(operators[1].children, 2);
  EXPECT_EQ(operators[1].faster_than_parent, 2);
  EXPECT_GT(operators[1].best_gain, 1.0);
  EXPECT_EQ(operators[5].op, "unroll");
  EXPECT_EQ(operators[5].inapplicable, 3);
  EXPECT_TRUE(std::isnan(operators[5].best_gain));
  EXPECT_DOUBLE_EQ(history.TotalClocks(run_).compile_ms, 5 * 120.5 + 2 * 80);
}

TEST_F(HistoryTest, TrialsOfAMinimisationDoNotCountAsChildren) {
  testing::AddMinimised(path_, run_);
  const History history(path_);
  for (const OperatorRow& row : history.Operators(run_)) EXPECT_NE(row.op, "minimise");
  for (const RewardRow& row : history.Rewards(std::nullopt)) EXPECT_NE(row.op, "minimise");
}

TEST_F(HistoryTest, RewardsOfAllRunsLeaveOutReplays) {
  RunRecord replay = FixtureRun();
  replay.options = R"({"replay":{"database":"other.db","runs":[1],"missing":"stop"}})";
  const std::vector<RewardRow> before = History(path_).Rewards(std::nullopt);
  const RunId id = SqliteStore(path_).BeginRun(replay);
  for (const GenerationRecord& generation : FixtureGenerations()) SqliteStore(path_).RecordGeneration(id, generation);
  const History history(path_);
  const std::vector<RewardRow> after = history.Rewards(std::nullopt);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].tries, before[i].tries);
  EXPECT_FALSE(history.Rewards(id).empty()) << "a replay named by its number has rewards";
}

TEST_F(HistoryTest, RewardsCountNeutralAndCancelledChildrenApart) {
  std::vector<GenerationRecord> generations = FixtureGenerations();
  generations[1].evaluations[0].program_digest = "p";
  generations[2].evaluations[0].program_digest = "p";  // 6 compiled to the program of 3 and was timed faster by chance
  generations[2].evaluations[1].outcome = Outcome::kCancelled;
  SqliteStore store(path_);
  const RunId second = store.BeginRun(FixtureRun());
  for (const GenerationRecord& generation : generations) store.RecordGeneration(second, generation);
  const History history(path_);
  const std::vector<RewardRow> rewards = history.Rewards(second);
  ASSERT_EQ(rewards.size(), 5U) << "default has no parents";
  EXPECT_EQ(rewards[0].op, "set_parameter");
  EXPECT_EQ(rewards[0].tries, 2);
  EXPECT_EQ(rewards[0].valid, 1);
  EXPECT_EQ(rewards[0].neutral, 1);
  EXPECT_EQ(rewards[0].improving, 1);
  EXPECT_DOUBLE_EQ(rewards[0].gains, generations[0].evaluations[0].score_ns / generations[0].evaluations[1].score_ns);
  EXPECT_EQ(rewards[2].op, "delete_statement");
  EXPECT_EQ(rewards[2].tries, 1) << "one was cancelled";
  EXPECT_EQ(rewards[2].valid, 0);
  EXPECT_TRUE(std::isnan(rewards[2].best_gain));
  EXPECT_EQ(rewards[4].op, "unroll");
  EXPECT_EQ(rewards[4].tries, 0);
  EXPECT_EQ(rewards[4].inapplicable, 3);
  const std::vector<RewardRow> all = history.Rewards(std::nullopt);
  EXPECT_EQ(all[0].tries, 4);
  EXPECT_EQ(all[0].valid, 3);
  EXPECT_TRUE(history.Rewards(99).empty());
}

TEST_F(HistoryTest, IsASnapshotWhileARunWrites) {
  SqliteStore store(path_);
  const RunId second = store.BeginRun(FixtureRun());
  const History before(path_);
  EXPECT_EQ(before.FindRun(std::nullopt).record.id, second);
  store.RecordGeneration(second, FixtureGenerations()[0]);
  EXPECT_EQ(before.FindRun(std::nullopt).evaluated, 0);
  EXPECT_EQ(History(path_).FindRun(std::nullopt).evaluated, 2);
}

TEST_F(HistoryTest, ReportsWhatDoesNotExist) {
  const History history(path_);
  EXPECT_THAT(MessageOf<UsageError>([&] { history.FindRun(99); }), HasSubstr("there is no run 99; `evo history --runs`"));
  EXPECT_THAT(MessageOf<UsageError>([&] { history.FindCandidate(run_, 99); }), HasSubstr("run 1 has no candidate 99"));
  const std::string missing = (folder_ / "none.db").string();
  EXPECT_THAT(MessageOf<UsageError>([&] { History{missing}; }), HasSubstr("none.db: no such database; `evo run --db"));
  EXPECT_FALSE(std::filesystem::exists(missing));
  const std::string empty = (folder_ / "empty.db").string();
  std::ofstream(empty).flush();
  EXPECT_THAT(MessageOf<UsageError>([&] { History{empty}; }), HasSubstr("empty.db: empty; `evo run"));
  const std::string no_runs = (folder_ / "no_runs.db").string();
  SqliteStore{no_runs};
  EXPECT_THAT(MessageOf<UsageError>([&] { History(no_runs).FindRun(std::nullopt); }), HasSubstr("no run in it yet"));
}

TEST_F(HistoryTest, SharesAreOfTheBestMeasuredRates) {
  const auto nothing = History(path_).Efficiency(run_, 6);
  ASSERT_FALSE(nothing.empty());
  EXPECT_GT(nothing[0].bytes_per_s, 0);
  EXPECT_TRUE(std::isnan(nothing[0].memory_share)) << "no machine was measured";
  MachineState machine{"start", 0,     600,    3.98,     4e12,
                       6e12,    65e12, 950e12, 50 << 20, {1980, 1980, 3201, -1, kNoValue, "thermal", true}};
  {
    SqliteStore store(path_);
    store.RecordMachine(run_, machine);
    machine.moment = "end";
    machine.l2_bytes_per_s = 8e12;  // the higher rate is the ceiling
    store.RecordMachine(run_, machine);
  }
  const History history(path_);
  const auto machines = history.Machines(run_);
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].moment, "start");
  EXPECT_EQ(machines[0].l2_bytes_per_s, 6e12);
  EXPECT_EQ(machines[0].clocks.sm_mhz, 1980);
  EXPECT_EQ(machines[0].clocks.temperature_c, -1);
  EXPECT_TRUE(std::isnan(machines[0].clocks.power_w));
  EXPECT_EQ(machines[0].clocks.throttle_reason, "thermal");
  const auto rows = history.Efficiency(run_, 6);
  const CandidateRecord candidate = history.FindCandidate(run_, 6);
  ASSERT_EQ(rows.size(), candidate.evaluation.cases.size());
  const CaseMeasurement& m = candidate.evaluation.cases[0];
  EXPECT_EQ(rows[0].case_name, m.name);
  EXPECT_DOUBLE_EQ(rows[0].bytes_per_s, m.bytes / m.median_ns * 1e9);
  EXPECT_DOUBLE_EQ(rows[0].memory_share, rows[0].bytes_per_s / 8e12);
  EXPECT_TRUE(std::isnan(rows[0].arithmetic_share)) << "the task declares no operations";
}

// What a user sees after opening the file with sqlite3.
TEST_F(HistoryTest, TheViewsAnswerTheCommonQuestions) {
  SQLite::Database db(path_, SQLite::OPEN_READONLY);
  const auto one = [&](const char* sql) { return db.execAndGet(sql).getString(); };
  EXPECT_EQ(one("SELECT candidate || ' ' || template || ' ' || verdict FROM best"), "6 scale held-out ok");
  EXPECT_EQ(
      one("SELECT group_concat(ancestor, '<') FROM (SELECT * FROM lineage WHERE run = 1 AND candidate = 6 ORDER BY steps_back)"),
      "6<3<2<1");
  EXPECT_EQ(one("SELECT value FROM parameter WHERE run = 1 AND candidate = 6 AND name = 'BLOCK'"), "256");
  EXPECT_EQ(one("SELECT group_concat(position || ':' || operator) FROM edit WHERE run = 1 AND candidate = 7"),
            "0:use_fmaf,1:delete_statement");
  EXPECT_EQ(one("SELECT group_concat(ticks) FROM (SELECT * FROM sample WHERE run = 1 AND candidate = 1 AND case_name = 'small' "
                "ORDER BY idx)"),
            "62,16909060,4294967294");
  EXPECT_EQ(one("SELECT count(*) FROM sample"), "30");
  EXPECT_EQ(one("SELECT group_concat(valid) FROM progress"), "2,1,2");
  EXPECT_EQ(one("SELECT count(*) FROM operator_success"), "6");
}

}  // namespace
}  // namespace evo
