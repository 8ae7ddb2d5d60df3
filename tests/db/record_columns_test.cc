#include "db/record_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/record_json.h"
#include "db/database.h"
#include "db/history.h"
#include "db/record_rows.h"
#include "db/sqlite_store.h"
#include "tests/db/filled_record.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using testing::Filled;
using testing::FixtureGenerations;
using testing::FixtureRun;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// The columns of `table` as the migrations leave it, without `others`, which do not belong to a record.
std::vector<std::string> StoredColumns(const std::string& table, const std::vector<std::string>& others) {
  const testing::TemporaryFolder folder;
  const auto db = OpenForWriting((folder / "evo.db").string(), kBusyTimeout, Migrations());
  SQLite::Statement row(*db, "SELECT name FROM pragma_table_info('" + table + "')");
  std::vector<std::string> names;
  while (row.executeStep()) {
    const std::string name = row.getColumn(0).getString();
    if (std::find(others.begin(), others.end(), name) == others.end()) names.push_back(name);
  }
  return names;
}

// Fields without a column in the table of the record.
template <DescribedRecord Record>
std::vector<std::string> FieldsWithoutColumn() {
  std::vector<std::string> names;
  const Record record;
  ForEachField(record, [&](const char* name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (DescribedRecord<Field>) {
      for (const std::string& nested : FieldsWithoutColumn<Field>()) names.push_back(std::string(name) + "." + nested);
    } else if (kHasOwnTable<Field> || ColumnOf(record, name).encoding == Encoding::kNoColumn) {
      names.emplace_back(name);
    }
  });
  return names;
}

TEST(RecordColumns, AreThoseOfTheTables) {
  EXPECT_THAT(ColumnNames<Evaluation>(), UnorderedElementsAreArray(StoredColumns("evaluation", {"run", "candidate"})));
  EXPECT_THAT(ColumnNames<CaseMeasurement>(),
              UnorderedElementsAreArray(StoredColumns("case_measurement", {"run", "candidate", "position"})));
  EXPECT_THAT(ColumnNames<CaseMeasurement>(),
              UnorderedElementsAreArray(StoredColumns("champion_case", {"champion_check", "side", "position"})));
  EXPECT_THAT(ColumnNames<ChampionCheck>(),
              UnorderedElementsAreArray(StoredColumns("champion_check", {"champion_check", "run", "candidate", "checked_at"})));
  EXPECT_THAT(ColumnNames<ToolResult>(), UnorderedElementsAreArray(StoredColumns("tool_check", {"champion_check", "position"})));
  EXPECT_THAT(ColumnNames<HardwareCounters>(), UnorderedElementsAreArray(StoredColumns("hardware_counters", {"champion_check"})));
  EXPECT_THAT(
      ColumnNames<HardwareCounters>(),
      UnorderedElementsAreArray(StoredColumns("counted_elite", {"run", "candidate", "generation", "bottleneck", "evidence"})));
  EXPECT_THAT(ColumnNames<StallLine>(), UnorderedElementsAreArray(StoredColumns("stall_line", {"champion_check", "position"})));
  EXPECT_THAT(ColumnNames<MachineState>(),
              UnorderedElementsAreArray(StoredColumns("machine", {"machine", "run", "measured_at"})));
  EXPECT_THAT(ColumnNames<RunRecord>(),
              UnorderedElementsAreArray(StoredColumns("run", {"run", "status", "status_message", "started_at", "ended_at"})));
}

TEST(RecordColumns, FieldsWithoutOneAreKnown) {
  EXPECT_THAT(FieldsWithoutColumn<Evaluation>(), ElementsAre("cases"));
  EXPECT_THAT(FieldsWithoutColumn<CaseMeasurement>(), IsEmpty());
  EXPECT_THAT(FieldsWithoutColumn<ChampionCheck>(), ElementsAre("candidate", "baseline", "held_out_cases", "tools", "counters",
                                                                "stalls", "domain.sizes", "domain.inputs", "domain.left_out"));
  EXPECT_THAT(FieldsWithoutColumn<ToolResult>(), IsEmpty());
  EXPECT_THAT(FieldsWithoutColumn<HardwareCounters>(), IsEmpty());
  EXPECT_THAT(FieldsWithoutColumn<MachineState>(), ElementsAre("clocks.disturbed"));
  EXPECT_THAT(FieldsWithoutColumn<RunRecord>(), ElementsAre("id", "templates", "operators"));
}

// Writes records with all fields filled and reads them back through the history.
class RoundTrip : public ::testing::Test {
 protected:
  RoundTrip() : path_((folder_ / "evo.db").string()), store_(path_) {}

  testing::TemporaryFolder folder_;
  std::string path_;
  SqliteStore store_;
};

TEST_F(RoundTrip, KeepsEveryFieldOfARun) {
  RunRecord run = Filled<RunRecord>();
  run.seed = 0xfedcba9876543210U;  // more than SQLite's integers hold
  run.id = store_.BeginRun(run);
  EXPECT_EQ(nlohmann::json(History(path_).FindRun(run.id).record), nlohmann::json(run));
}

TEST_F(RoundTrip, KeepsEveryFieldOfAnEvaluation) {
  const RunId run = store_.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  Evaluation& evaluation = generation.evaluations[0];
  evaluation = Filled<Evaluation>();
  evaluation.counterexample.seed = 0xfedcba9876543210U;
  // A copy of a candidate that is not stored yet, so that the samples are stored here.
  evaluation.shared_run = run;
  evaluation.shared_candidate = generation.candidates.back().id + 1;
  const nlohmann::json expected = evaluation;
  ASSERT_EQ(expected["cases"].size(), 2U);
  store_.RecordGeneration(run, generation);
  EXPECT_EQ(nlohmann::json(History(path_).FindCandidate(run, generation.candidates[0].id).evaluation), expected);
}

TEST_F(RoundTrip, KeepsWhatIsNotKnown) {
  const RunId run = store_.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  generation.evaluations[0] = Evaluation{};
  generation.evaluations[0].cases.resize(1);
  const nlohmann::json expected = generation.evaluations[0];
  store_.RecordGeneration(run, generation);
  EXPECT_EQ(nlohmann::json(History(path_).FindCandidate(run, generation.candidates[0].id).evaluation), expected);
  SQLite::Database db(path_);
  for (const char* column : {"score_ns", "registers", "occupancy", "failed_case", "failed_generator", "failed_seed", "shared_run",
                             "shared_candidate"}) {
    EXPECT_TRUE(db.execAndGet("SELECT " + std::string(column) + " FROM evaluation WHERE candidate = 1").isNull()) << column;
  }
}

TEST_F(RoundTrip, KeepsEveryFieldOfAChampionCheck) {
  const RunId run = store_.BeginRun(FixtureRun());
  store_.RecordGeneration(run, FixtureGenerations()[0]);
  ChampionCheck check = Filled<ChampionCheck>();
  check.tools[0].result = "clean";
  check.tools[1].result = "missing";
  check.counters[0].program = kCountedCandidate;
  check.counters[1].program = kCountedBaseline;
  store_.RecordChampion(run, 1, check);
  const auto stored = History(path_).FindCandidate(run, 1).check;
  ASSERT_TRUE(stored);
  EXPECT_EQ(nlohmann::json(*stored), nlohmann::json(check));
}

TEST_F(RoundTrip, KeepsEveryFieldOfAMachine) {
  const RunId run = store_.BeginRun(FixtureRun());
  MachineState machine = Filled<MachineState>();
  machine.moment = "end";
  store_.RecordMachine(run, machine);
  machine.clocks.disturbed = false;  // has no column
  ASSERT_EQ(History(path_).Machines(run).size(), 1U);
  EXPECT_EQ(nlohmann::json(History(path_).Machines(run)[0]), nlohmann::json(machine));
}

TEST_F(RoundTrip, SumsEveryClock) {
  const RunId run = store_.BeginRun(FixtureRun());
  GenerationRecord generation = FixtureGenerations()[0];
  generation.evaluations[0].clocks = Filled<StageClocks>();
  generation.evaluations[1].clocks = StageClocks{};
  store_.RecordGeneration(run, generation);
  EXPECT_EQ(nlohmann::json(History(path_).TotalClocks(run)), nlohmann::json(generation.evaluations[0].clocks));
}

TEST_F(RoundTrip, AnUnknownSpellingIsAnError) {
  const RunId run = store_.BeginRun(FixtureRun());
  store_.RecordGeneration(run, FixtureGenerations()[0]);
  SQLite::Database(path_, SQLite::OPEN_READWRITE).exec("UPDATE evaluation SET stage = 'dream' WHERE candidate = 1");
  try {
    History(path_).FindCandidate(run, 1);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              path_ + ": run 1, candidate 1: its stage is 'dream', which this evo does not know; go back to a copy of " +
                  "the database, or begin a new run");
  }
}

TEST(Samples, AreLittleEndianWords) {
  EXPECT_EQ(EncodeSamples({1, 0x0a0b0c0dU}), std::string("\x01\x00\x00\x00\x0d\x0c\x0b\x0a", 8));
  EXPECT_EQ(DecodeSamples(EncodeSamples({0, 0xffffffffU, 77})), (std::vector<std::uint32_t>{0, 0xffffffffU, 77}));
  EXPECT_TRUE(DecodeSamples("").empty());
}

}  // namespace
}  // namespace evo
