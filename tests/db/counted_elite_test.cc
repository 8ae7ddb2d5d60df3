// What is stored of candidates that were counted while the search went on.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/history.h"
#include "db/merge.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class CountedElites : public ::testing::Test {
 protected:
  // Candidates 2 and 3 are counted until generation 1 is recorded.
  CountedElites() : path_((folder_ / "evo.db").string()), store_(path_), run_(store_.BeginRun(testing::FixtureRun())) {
    std::vector<GenerationRecord> generations = testing::FixtureGenerations();
    for (GenerationRecord& generation : generations) {
      for (Evaluation& evaluation : generation.evaluations) {
        if (evaluation.outcome != Outcome::kOk) continue;
        evaluation.bottleneck = Bottleneck::kLatency;
        evaluation.evidence = "an occupancy of 0.12";
      }
    }
    CountedElite one;
    one.candidate = 2;
    one.bottleneck = Bottleneck::kBarrier;
    one.evidence = "warps wait 50% for barriers (counted)";
    one.counters.program = kCountedCandidate;
    one.counters.case_name = "large";
    one.counters.counted_ns = 3950;
    one.counters.wait_barrier = 0.5;
    generations[1].counted.push_back(one);
    one.candidate = 3;
    one.bottleneck = Bottleneck::kDram;
    generations[1].counted.push_back(one);
    generations[2].counted = generations[1].counted;  // counts once
    for (const GenerationRecord& generation : generations) store_.RecordGeneration(run_, generation);
    store_.EndRun(run_, RunStatus::kFinished, "");
  }

  testing::TemporaryFolder folder_;
  std::string path_;
  SqliteStore store_;
  RunId run_;
};

TEST_F(CountedElites, ComeBackWithTheirGeneration) {
  const std::vector<GenerationRecord> loaded = store_.LoadGenerations(run_);
  EXPECT_THAT(loaded[0].counted, IsEmpty());
  ASSERT_THAT(loaded[1].counted, SizeIs(2));
  EXPECT_THAT(loaded[2].counted, IsEmpty());
  const CountedElite& one = loaded[1].counted.front();
  EXPECT_EQ(one.candidate, 2);
  EXPECT_EQ(one.bottleneck, Bottleneck::kBarrier);
  EXPECT_EQ(one.evidence, "warps wait 50% for barriers (counted)");
  EXPECT_EQ(one.counters.case_name, "large");
  EXPECT_EQ(one.counters.wait_barrier, 0.5);
  EXPECT_TRUE(std::isnan(one.counters.dram));
  EXPECT_EQ(loaded[0].evaluations[1].bottleneck, Bottleneck::kLatency) << "what a resumed run decided by until then";
}

TEST_F(CountedElites, AreShownWithTheClassByCounters) {
  const History history(path_);
  const CandidateRecord record = history.FindCandidate(run_, 2);
  EXPECT_EQ(record.evaluation.bottleneck, Bottleneck::kBarrier);
  EXPECT_EQ(record.evaluation.evidence, "warps wait 50% for barriers (counted)");
  ASSERT_TRUE(record.count);
  EXPECT_EQ(record.count->generation, 1);
  EXPECT_EQ(record.count->before.bottleneck, Bottleneck::kLatency);
  EXPECT_EQ(record.count->before.evidence, "an occupancy of 0.12");
  EXPECT_FALSE(history.FindCandidate(run_, 1).count);
  EXPECT_EQ(history.FindCandidate(run_, 1).evaluation.bottleneck, Bottleneck::kLatency);
}

TEST_F(CountedElites, RewardLaterChildrenByTheClassByCounters) {
  RunRecord other = testing::FixtureRun();
  other.id = run_ + 1;
  const RewardsByBottleneck rewards = store_.LoadRewardsByBottleneck(other);
  EXPECT_TRUE(rewards.at("latency").contains("use_fmaf")) << "candidate 2 had not been counted yet";
  EXPECT_FALSE(rewards.contains("barrier")) << "it has no later children";
  EXPECT_TRUE(rewards.at("dram").contains("delete_statement")) << "a later child of candidate 3";
}

// Whoever reads classes by a view finds what commands show and what runs learn from.
TEST_F(CountedElites, HaveTheirClassInTheViews) {
  const auto db = OpenForReading(path_);
  const auto text = [&](const std::string& query) {
    SQLite::Statement row(*db, query);
    std::string all;
    while (row.executeStep()) all += row.getColumn(0).getString() + " ";
    return all;
  };
  EXPECT_EQ(text("SELECT bottleneck FROM candidate_class WHERE candidate <= 3 ORDER BY candidate"), "latency barrier dram ");
  EXPECT_EQ(text("SELECT counted_in FROM candidate_class WHERE candidate = 2"), "1 ");
  EXPECT_EQ(text("SELECT bottleneck FROM operator_by_bottleneck WHERE operator = 'use_fmaf'"), "latency ");
  EXPECT_EQ(text("SELECT bottleneck FROM operator_by_bottleneck WHERE operator = 'delete_statement'"), "dram latency ");
}

TEST_F(CountedElites, AreMergedWithTheirRun) {
  const std::string merged = (folder_ / "merged.db").string();
  MergeDatabases({path_}, merged);
  EXPECT_TRUE(History(merged).FindCandidate(1, 2).count);
}

}  // namespace
}  // namespace evo
