// What a run reads of earlier ones and, when it goes on, of itself.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/record_json.h"
#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"

namespace evo {
namespace {

using testing::FixtureGenerations;
using testing::FixtureRun;
using testing::TemporaryFolder;

TEST(LoadParts, GivesWhatWasStored) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  std::vector<GenerationRecord> stored = FixtureGenerations();
  stored.emplace_back();
  stored.back().generation = 3;
  stored.back().duplicates = 5;
  for (const GenerationRecord& generation : stored) store.RecordGeneration(run, generation);
  StoredGenerations parts = store.LoadParts(run);
  EXPECT_EQ(parts.size(), 4U);
  std::vector<GenerationRecord> taken;
  parts.Take([&](GenerationRecord record) { taken.push_back(std::move(record)); });
  EXPECT_EQ(parts.size(), 0U);
  ASSERT_EQ(taken.size(), stored.size());
  for (std::size_t g = 0; g < stored.size(); ++g) {
    EXPECT_EQ(taken[g].generation, stored[g].generation);
    EXPECT_EQ(taken[g].duplicates, stored[g].duplicates);
    ASSERT_EQ(taken[g].candidates.size(), stored[g].candidates.size());
    for (std::size_t i = 0; i < stored[g].candidates.size(); ++i) {
      EXPECT_EQ(taken[g].candidates[i].genome, stored[g].candidates[i].genome);
      EXPECT_EQ(taken[g].candidates[i].parents, stored[g].candidates[i].parents);
      EXPECT_EQ(nlohmann::json(taken[g].evaluations[i]), nlohmann::json(stored[g].evaluations[i]));
    }
  }
}

// The cases of all candidates are read by one statement, and those of a copy from its original.
TEST(LoadParts, FindsTheRowsOfEachCandidateAmongTheirs) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  store.BeginRun(FixtureRun());
  const RunId run = store.BeginRun(FixtureRun());
  std::vector<GenerationRecord> stored = FixtureGenerations();
  Evaluation& copy = stored[1].evaluations.front();
  copy = stored[0].evaluations.front();
  copy.shared_run = run;
  copy.shared_candidate = stored[0].candidates.front().id;
  stored[0].candidates.back().dropped = {"one reason", "another"};
  stored[0].evaluations.back().cases.clear();
  stored[0].evaluations.back().outcome = Outcome::kCrash;
  for (const GenerationRecord& generation : stored) store.RecordGeneration(run, generation);
  const StoredGenerations parts = store.LoadParts(run);
  const std::vector<GenerationRecord>& read = parts.outlines();
  for (std::size_t g = 0; g < stored.size(); ++g) {
    for (std::size_t i = 0; i < stored[g].candidates.size(); ++i) {
      EXPECT_EQ(read[g].candidates[i].dropped, stored[g].candidates[i].dropped);
      EXPECT_EQ(nlohmann::json(read[g].evaluations[i]), nlohmann::json(stored[g].evaluations[i]));
    }
  }
  EXPECT_FALSE(read[1].evaluations.front().cases.front().samples.empty());
}

TEST(LoadParts, HasOutlinesWithoutWhatGenomesAreMadeOf) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  const RunId run = store.BeginRun(FixtureRun());
  for (const GenerationRecord& generation : FixtureGenerations()) store.RecordGeneration(run, generation);
  const StoredGenerations parts = store.LoadParts(run);
  const std::vector<GenerationRecord>& outlines = parts.outlines();
  const std::vector<GenerationRecord> loaded = store.LoadGenerations(run);
  ASSERT_EQ(outlines.size(), loaded.size());
  for (std::size_t g = 0; g < loaded.size(); ++g) {
    ASSERT_EQ(outlines[g].candidates.size(), loaded[g].candidates.size());
    for (std::size_t i = 0; i < loaded[g].candidates.size(); ++i) {
      EXPECT_EQ(outlines[g].candidates[i].genome.template_digest, loaded[g].candidates[i].genome.template_digest);
      EXPECT_TRUE(outlines[g].candidates[i].genome.edits.empty());
      EXPECT_EQ(outlines[g].evaluations[i].score_ns == loaded[g].evaluations[i].score_ns, loaded[g].evaluations[i].score_ns > 0);
    }
  }
}

TEST(LoadKnown, IsTheSameWithOutlinesOfTheRunItself) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  RunRecord run = FixtureRun();
  for (int i = 0; i < 2; ++i) {
    run.id = store.BeginRun(run);
    for (GenerationRecord& generation : FixtureGenerations()) {
      for (Evaluation& evaluation : generation.evaluations)
        evaluation.program_digest = evaluation.outcome == Outcome::kOk ? "of " + evaluation.source_digest : "";
      store.RecordGeneration(run.id, generation);
    }
  }
  const StoredGenerations parts = store.LoadParts(run.id);
  const std::vector<KnownEvaluation> known = store.LoadKnown(
      run, [](const Damage&) {}, &parts.outlines());
  const std::vector<KnownEvaluation> read = store.LoadKnown(run);
  ASSERT_EQ(known.size(), read.size());
  EXPECT_GE(known.size(), 4U);
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(known[i].run, read[i].run);
    EXPECT_EQ(known[i].candidate, read[i].candidate);
    EXPECT_EQ(known[i].evaluation.program_digest, read[i].evaluation.program_digest);
    ASSERT_EQ(known[i].evaluation.cases.size(), read[i].evaluation.cases.size());
    for (std::size_t j = 0; j < read[i].evaluation.cases.size(); ++j)
      EXPECT_EQ(known[i].evaluation.cases[j].samples, read[i].evaluation.cases[j].samples);
  }
}

// The times of a replay were measured in other runs and must not count twice.
TEST(LoadKnown, AndLoadRewardsLeaveOutReplays) {
  const TemporaryFolder folder;
  SqliteStore store((folder / "evo.db").string());
  RunRecord run = FixtureRun();
  const auto record = [&](const std::string& options) {
    run.options = options;
    run.id = store.BeginRun(run);
    for (GenerationRecord& generation : FixtureGenerations()) {
      for (Evaluation& evaluation : generation.evaluations) evaluation.program_digest = "of " + evaluation.source_digest;
      store.RecordGeneration(run.id, generation);
    }
    store.EndRun(run.id, RunStatus::kFinished, "");
  };
  record(R"({"replay":{"database":"other.db","runs":[1],"missing":"replace"}})");
  EXPECT_TRUE(store.LoadKnown(run).empty());
  EXPECT_TRUE(store.LoadRewards(run).empty());
  record("{}");
  for (const KnownEvaluation& known : store.LoadKnown(run)) EXPECT_EQ(known.run, run.id);
  EXPECT_FALSE(store.LoadKnown(run).empty());
  EXPECT_FALSE(store.LoadRewards(run).empty());
}

}  // namespace
}  // namespace evo
