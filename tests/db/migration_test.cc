// Databases of older versions, as they were written then.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "db/database.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

// A run with a row in every table of which version 8 renames a column.
constexpr const char* kRowsOfVersion7 = R"sql(
INSERT INTO run (run, task, task_directory, task_digest, baseline, device, device_name, arch, l2, population_kind, seed,
                 generations, population, children, options, tool_version, arithmetic)
  VALUES (1, 'scale', '/tasks/scale', 'ab12', 'scale', 'cuda', 'NVIDIA H200', 'sm_90a', 'hot', 'elitist', '7', 3, 4, 3,
          '{"evaluations":0,"earned":{"unroll":{"tries":3,"fresh":2,"log_gain":0.1}}}', '0.1.0', 'f16'),
         (2, 'scale', '/tasks/scale', 'ab12', 'scale', 'cuda', 'NVIDIA H200', 'sm_90a', 'hot', 'elitist', '7', 3, 4, 3,
          '{"evaluations":12}', '0.1.0', 'f16'),
         (3, 'scale', '/tasks/scale', 'ab12', 'scale', 'cuda', 'NVIDIA H200', 'sm_90a', 'hot', 'elitist', '7', 3, 4, 3,
          'earned, but not JSON', '0.1.0', 'f16');
INSERT INTO generation (run, generation, evaluated, valid, duplicates) VALUES (1, 0, 2, 2, 0);
INSERT INTO candidate (run, candidate, generation, idx, template, operator, genome_hash, genome)
  VALUES (1, 1, 0, 0, 'scale', 'default', 'h1', '{"edits":[],"parameters":{},"template":"scale","template_digest":"d"}'),
         (1, 2, 0, 1, 'scale', 'unroll', 'h2', '{"edits":[],"parameters":{},"template":"scale","template_digest":"d"}');
INSERT INTO parent (run, candidate, position, parent) VALUES (1, 2, 0, 1);
INSERT INTO evaluation (run, candidate, outcome, stage, message, log, score_ns, device, device_name, l2, image_digest,
                        source_digest, compile_ms, load_ms, check_ms, time_ms, queue_ms, soak_ms, soak_runs)
  VALUES (1, 1, 'ok', 'time', '', '', 2000, 'cuda', 'NVIDIA H200', 'hot', '', '', 1, 2, 3, 4, 5, 0, 0),
         (1, 2, 'ok', 'soak', '', '', 1000, 'cuda', 'NVIDIA H200', 'hot', '', '', 1, 2, 3, 4, 5, 12.5, 24);
INSERT INTO case_measurement (run, candidate, position, case_name, weight, tick_ns, discarded, samples, given_up, held_back)
  VALUES (1, 2, 0, 'small', 1, 32, 0, x'01000000', 1, 'power cap');
INSERT INTO champion_check (champion_check, run, candidate, outcome, message) VALUES (1, 1, 2, 'ok', '');
INSERT INTO champion_case (champion_check, side, position, case_name, weight, tick_ns, discarded, samples, given_up, held_back)
  VALUES (1, 'candidate', 0, 'small', 1, 32, 0, x'', 1, 'thermal');
INSERT INTO machine (run, moment, ordinal, l2_bytes, held_back) VALUES (1, 'start', 0, 52428800, 'sync boost');
)sql";

class Version7 : public ::testing::Test {
 protected:
  Version7() : path_((folder_ / "evo.db").string()) {
    OpenForWriting(path_, kBusyTimeout, Migrations().first(7))->exec(kRowsOfVersion7);
  }

  std::string One(const std::string& query) {
    return OpenForWriting(path_, kBusyTimeout, Migrations())->execAndGet(query).getString();
  }

  testing::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Version7, IsReadWithTheContentOfRenamedColumns) {
  const History history(path_);
  const CandidateRecord record = history.FindCandidate(1, 2);
  EXPECT_EQ(record.evaluation.stage, Stage::kReverify);
  EXPECT_EQ(record.evaluation.clocks.reverification_ms, 12.5);
  EXPECT_EQ(record.evaluation.reverification_runs, 24);
  ASSERT_EQ(record.evaluation.cases.size(), 1U);
  EXPECT_TRUE(record.evaluation.cases[0].pruned);
  EXPECT_EQ(record.evaluation.cases[0].throttle_reason, "power cap");
  EXPECT_EQ(record.evaluation.cases[0].samples, std::vector<std::uint32_t>{1});
  ASSERT_TRUE(record.check);
  ASSERT_EQ(record.check->candidate.size(), 1U);
  EXPECT_TRUE(record.check->candidate[0].pruned);
  EXPECT_EQ(record.check->candidate[0].throttle_reason, "thermal");
  ASSERT_EQ(history.Machines(1).size(), 1U);
  EXPECT_EQ(history.Machines(1)[0].clocks.throttle_reason, "sync boost");
  EXPECT_EQ(history.FindCandidate(1, 1).evaluation.stage, Stage::kTime);
}

TEST_F(Version7, OptionsNameRewards) {
  EXPECT_EQ(
      One("SELECT json_type(options, '$.rewards') || ' ' || json_extract(options, '$.rewards.unroll.log_gain') || ' ' || "
          "json_extract(options, '$.evaluations') || ' ' || (json_type(options, '$.earned') IS NULL) FROM run WHERE run = 1"),
      "object 0.1 0 1");
  EXPECT_EQ(One("SELECT options FROM run WHERE run = 2"), R"({"evaluations":12})");
  EXPECT_EQ(One("SELECT options FROM run WHERE run = 3"), "earned, but not JSON");
}

TEST_F(Version7, ViewsAnswerToTheOldNames) {
  EXPECT_EQ(One("SELECT soak_ms || ' ' || soak_runs || ' ' || score_ns FROM evaluation_v7 WHERE candidate = 2"),
            "12.5 24 1000.0");
  EXPECT_EQ(One("SELECT given_up || ' ' || held_back || ' ' || case_name FROM case_measurement_v7"), "1 power cap small");
  EXPECT_EQ(One("SELECT given_up || ' ' || held_back || ' ' || side FROM champion_case_v7"), "1 thermal candidate");
  EXPECT_EQ(One("SELECT held_back || ' ' || moment FROM machine_v7"), "sync boost start");
  EXPECT_EQ(One("SELECT operator || ' ' || tries || ' ' || improving || ' ' || best_gain FROM operator_earned"),
            "unroll 1 1 2.0");
  EXPECT_EQ(One("SELECT operator || ' ' || tries || ' ' || improving || ' ' || best_gain FROM operator_reward"),
            "unroll 1 1 2.0");
}

TEST_F(Version7, EveryViewStillAnswers) {
  const auto db = OpenForWriting(path_, kBusyTimeout, Migrations());
  std::vector<std::string> views;
  for (SQLite::Statement row(*db, "SELECT name FROM sqlite_schema WHERE type = 'view'"); row.executeStep();)
    views.push_back(row.getColumn(0).getString());
  EXPECT_GE(views.size(), 17U);
  for (const std::string& view : views) EXPECT_NO_THROW(db->execAndGet("SELECT count(*) FROM " + view)) << view;
}

TEST_F(Version7, IsWrittenAgain) {
  SqliteStore store(path_);
  GenerationRecord next = testing::FixtureGenerations()[0];
  next.generation = 1;
  for (Candidate& candidate : next.candidates) {
    candidate.id += 2;
    candidate.generation = 1;
    candidate.parents.clear();
  }
  store.RecordGeneration(1, next);
  EXPECT_EQ(History(path_).Candidates(1, {}).size(), 4U);
}

}  // namespace
}  // namespace evo
