// Version 11: texts that repeat are stored once, and candidate, evaluation and case_measurement are views.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "db/database.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "db/stored_genomes.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

// Rows of version 10 with every kind of genome: one with edits that repeat, one without, one with blanks, one that is no JSON
// object.
constexpr const char* kRowsOfVersion10 = R"sql(
INSERT INTO run (run, task, task_directory, task_digest, baseline, device, device_name, arch, l2, population_kind, seed,
                 generations, population, children, options, tool_version)
  VALUES (1, 'scale', '/tasks/scale', 'ab12', 'scale', 'cuda', 'NVIDIA H200', 'sm_90a', 'hot', 'elitist', '7', 3, 4, 3, '{}',
          '0.1.0');
INSERT INTO generation (run, generation, evaluated, valid, duplicates) VALUES (1, 0, 4, 2, 0);
INSERT INTO candidate (run, candidate, generation, idx, template, operator, genome_hash, genome) VALUES
  (1, 1, 0, 0, 'scale', 'default', 'h1', '{"edits":[],"parameters":{"B":1},"template":"scale","template_digest":"d"}'),
  (1, 2, 0, 1, 'scale', 'unroll', 'h2',
   '{"edits":[{"op":"a\"\u00e9"},{"op":"b"},{"op":"b"}],"parameters":{"B":1},"template":"scale","template_digest":"d"}'),
  (1, 3, 0, 2, 'scale', 'unroll', 'h3', '{ "edits": [], "parameters": {} }'),
  (1, 4, 0, 3, 'scale', 'unroll', 'h4', 'null');
INSERT INTO parent (run, candidate, position, parent) VALUES (1, 2, 0, 1), (1, 3, 0, 1), (1, 4, 0, 2);
INSERT INTO operator_inapplicable (run, generation, operator, times) VALUES (1, 0, 'unroll', 2), (1, 0, 'fuse', 5);
INSERT INTO evaluation (run, candidate, outcome, stage, message, log, score_ns, device, device_name, l2, image_digest,
                        source_digest)
  VALUES (1, 1, 'ok', 'time', '', '', 2000, 'cuda', 'NVIDIA H200', 'hot', '', ''),
         (1, 2, 'ok', 'time', '', '', 1000, 'cuda', 'NVIDIA H200', 'hot', '', ''),
         (1, 3, 'compile_error', 'compile', 'no', 'log' || char(10), NULL, 'cuda', 'NVIDIA H200', 'hot', '', ''),
         (1, 4, 'compile_error', 'compile', 'no', 'log' || char(10), NULL, 'cuda', 'NVIDIA H100', 'hot', '', '');
INSERT INTO case_measurement (run, candidate, position, case_name, weight, discarded, samples, launches)
  VALUES (1, 1, 0, 'small', 1, 0, x'0100000002000000', 'scale grid 8'), (1, 2, 0, 'small', 1, 0, x'01000000', 'scale grid 8');
)sql";

class Texts : public ::testing::Test {
 protected:
  Texts() : path_((folder_ / "evo.db").string()) {}

  std::vector<std::string> Rows(SQLite::Database& db, const std::string& table) {
    std::vector<std::string> rows;
    SQLite::Statement row(db, "SELECT * FROM " + table + " ORDER BY 1, 2, 3");
    while (row.executeStep()) {
      std::string text;
      for (int i = 0; i < row.getColumnCount(); ++i)
        text += row.getColumn(i).isNull() ? "NULL|" : row.getColumn(i).getString() + "|";
      rows.push_back(text);
    }
    return rows;
  }

  std::string One(const std::string& sql) { return SQLite::Database(path_).execAndGet(sql).getString(); }

  testing::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Texts, AnOlderDatabaseKeepsEveryRow) {
  const std::vector<std::string> tables{"candidate", "evaluation", "case_measurement", "parent"};
  std::map<std::string, std::vector<std::string>> before;
  {
    const auto db = OpenForWriting(path_, kBusyTimeout, Migrations().first(10));
    db->exec(kRowsOfVersion10);
    for (const std::string& table : tables) before[table] = Rows(*db, table);
  }
  const auto db = OpenForWriting(path_, kBusyTimeout, Migrations());
  for (const std::string& table : tables) {
    const std::vector<std::string> rows = Rows(*db, table);
    ASSERT_EQ(rows.size(), before[table].size()) << table;
    // Later versions add columns behind the others.
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(rows[i].starts_with(before[table][i])) << rows[i];
  }
  EXPECT_FALSE(db->tableExists("candidate_v11"));
  EXPECT_EQ(db->execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
  EXPECT_EQ(db->execAndGet("SELECT group_concat(outcome || candidates) FROM generation_outcome").getString(),
            "compile_error2,ok2");
  EXPECT_EQ(
      db->execAndGet("SELECT children || ' ' || ok || ' ' || faster || ' ' || tries || ' ' || best_gain || ' ' || inapplicable "
                     "FROM operator_total WHERE operator = 'unroll'")
          .getString(),
      "3 1 1 3 2.0 2");
  EXPECT_EQ(db->execAndGet("SELECT children || ' ' || inapplicable FROM operator_total WHERE operator = 'fuse'").getString(),
            "0 5");
}

TEST_F(Texts, ForeignKeysAreInForceAfterMigrating) {
  { OpenForWriting(path_, kBusyTimeout, Migrations().first(10))->exec(kRowsOfVersion10); }
  const auto db = OpenForWriting(path_, kBusyTimeout, Migrations());
  EXPECT_THROW(db->exec("INSERT INTO parent VALUES (1, 99, 0, 1)"), SQLite::Exception);
  db->exec("DELETE FROM run");
  for (const char* table : {"candidate_row", "evaluation_row", "case_row", "parent", "operator_total", "generation_outcome"})
    EXPECT_EQ(db->execAndGet(std::string("SELECT count(*) FROM ") + table).getInt(), 0) << table;
}

TEST_F(Texts, AreStoredOnce) {
  testing::WriteFixture(path_, testing::FixtureRun());
  const std::string once = One("SELECT count(*) FROM text");
  SqliteStore store(path_);
  const RunId second = store.BeginRun(testing::FixtureRun());
  for (const GenerationRecord& generation : testing::FixtureGenerations()) store.RecordGeneration(second, generation);
  EXPECT_EQ(One("SELECT count(*) FROM text"), once);
  EXPECT_EQ(One("SELECT count(DISTINCT content) FROM text"), once);
}

TEST_F(Texts, TheViewsAreWrittenLikeTables) {
  testing::WriteFixture(path_, testing::FixtureRun());
  SQLite::Database db(path_, SQLite::OPEN_READWRITE);
  db.exec("UPDATE evaluation SET message = 'other', log = '' WHERE candidate = 4");
  EXPECT_EQ(One("SELECT message || '|' || log || '|' || outcome FROM evaluation WHERE candidate = 4"), "other||compile_error");
  db.exec("UPDATE case_measurement SET launches = 'none', samples = x'' WHERE candidate = 1 AND position = 0");
  EXPECT_EQ(One("SELECT launches || length(samples) FROM case_measurement WHERE candidate = 1 AND position = 0"), "none0");
  const std::string genome = One("SELECT genome FROM candidate WHERE candidate = 7");
  db.exec("UPDATE candidate SET genome = ' ' || genome, operator = 'x' WHERE candidate = 7");
  EXPECT_EQ(One("SELECT genome FROM candidate WHERE candidate = 7"), " " + genome);
  EXPECT_EQ(History(path_).FindCandidate(1, 7).candidate.genome.edits.size(), 2U);
  db.exec("UPDATE candidate SET genome = trim(genome) WHERE candidate = 7");
  EXPECT_EQ(One("SELECT genome FROM candidate WHERE candidate = 7"), genome);
  db.exec("DELETE FROM candidate WHERE candidate = 7");
  EXPECT_EQ(One("SELECT count(*) FROM candidate"), "6");
}

TEST_F(Texts, AGenomeIsPutTogetherToTheBytesOfItsHash) {
  testing::WriteFixture(path_, testing::FixtureRun());
  const History history(path_);
  for (const CandidateRecord& record : history.Candidates(1, {})) {
    EXPECT_EQ(One("SELECT genome FROM candidate WHERE candidate = " + std::to_string(record.candidate.id)),
              ToCanonicalJson(record.candidate.genome));
  }
  EXPECT_EQ(One("SELECT count(*) FROM candidate_row WHERE edits IS NULL"), "0");
}

TEST(NumbersOf, ReadsOnlyLists) {
  EXPECT_EQ(NumbersOf("[]"), std::vector<std::int64_t>());
  EXPECT_EQ(NumbersOf("[3,14]"), (std::vector<std::int64_t>{3, 14}));
  for (const char* wrong : {"", "[", "]", "[,]", "[1,]", "[1 2]", "[null]", "{}", "[99999999999999999999]", "[1", "[[1]]"})
    EXPECT_THROW(NumbersOf(wrong), Error) << wrong;
}

}  // namespace
}  // namespace evo
