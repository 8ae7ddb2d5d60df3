#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/sqlite_store.h"
#include "tests/db/fixture_run.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::SizeIs;
using testing::Spelled;
using testing::TemporaryFolder;
using testing::World;

TEST(Resume, MakesTheSameCandidatesAtEveryBoundary) {
  World whole(FakeRun());
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  const std::string expected = Spelled(whole.store.generations);
  for (std::size_t kept = 0; kept <= whole.store.generations.size(); ++kept) {
    SCOPED_TRACE(kept);
    World& resumed = whole.Again(kept);
    ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), expected);
    EXPECT_EQ(resumed.evolution.progress().evaluated, whole.evolution.progress().evaluated);
    EXPECT_EQ(resumed.evolution.progress().duplicates, whole.evolution.progress().duplicates);
    EXPECT_EQ(resumed.evolution.progress().best, whole.evolution.progress().best);
    EXPECT_EQ(resumed.evolution.progress().baseline_ns, whole.evolution.progress().baseline_ns);
    ASSERT_THAT(resumed.store.champions, SizeIs(1));
    EXPECT_EQ(resumed.store.champions[0].first, whole.store.champions[0].first);
    EXPECT_FALSE(resumed.evaluator.checked[0].source.empty()) << "a champion read back is rendered again";
    EXPECT_EQ(resumed.observer.events.front(), kept == 0 ? "started" : "resumed");
  }
}

TEST(Resume, KnowsWhetherTheRunIsEarly) {
  World whole(EvolutionSettings{.run = FakeRun(), .seeds = {testing::GenomeAt(testing::kStart)}, .early_children = 3});
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  for (std::size_t kept = 0; kept <= whole.store.generations.size(); ++kept) {
    SCOPED_TRACE(kept);
    World& resumed = whole.Again(kept);
    ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), Spelled(whole.store.generations));
  }
}

TEST(Resume, TakesGenerationsOneAfterAnother) {
  World whole(FakeRun());
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  World& resumed = whole.Again(3);
  const StopCondition stop(whole.run.generations, {}, {});
  const auto visit_all = [generations = resumed.store.generations](const std::function<void(GenerationRecord)>& visit) {
    for (const GenerationRecord& record : generations) visit(record);
  };
  ASSERT_EQ(resumed.evolution.Resume(stop, visit_all), RunStatus::kFinished);
  EXPECT_EQ(resumed.store.loads, 0) << "the store is not asked for all of them";
  EXPECT_EQ(Spelled(resumed.store.generations), Spelled(whole.store.generations));
}

TEST(Resume, EvaluatesNoCandidateTwice) {
  World whole(FakeRun());
  whole.Run();
  World& resumed = whole.Again(5);
  resumed.Resume();
  std::size_t later = 0;
  for (std::size_t g = 5; g < whole.store.generations.size(); ++g) later += whole.store.generations[g].candidates.size();
  EXPECT_EQ(static_cast<std::size_t>(resumed.evaluator.evaluated), later);
}

TEST(Resume, CountsTheEmptyGenerationsBeforeTheInterruption) {
  World whole(FakeRun());
  whole.breeder.childless = {2, 5, 6, 7};
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  ASSERT_EQ(whole.store.message, "nothing new to try");
  const std::string expected = Spelled(whole.store.generations);
  for (std::size_t kept = 1; kept <= whole.store.generations.size(); ++kept) {
    SCOPED_TRACE(kept);
    World& resumed = whole.Again(kept);
    ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), expected);
    EXPECT_EQ(resumed.store.message, "nothing new to try");
  }
}

TEST(Resume, MakesTheSameRunAfterManyInterruptions) {
  World whole(FakeRun());
  whole.Run();
  const World* last = &whole;
  std::vector<std::unique_ptr<World>> chain;
  std::size_t kept = 0;
  for (int round = 0; round < 100; ++round) {
    auto next = std::make_unique<World>(whole.run, whole.seeds);
    next->store.generations.assign(last->store.generations.begin(),
                                   last->store.generations.begin() + static_cast<std::ptrdiff_t>(kept));
    // Eleven evaluations complete one generation of eight and end in the middle of another.
    next->evaluator.on_evaluated = [world = next.get()](int evaluated) {
      if (evaluated == 11) world->interrupt.request_stop();
    };
    const RunStatus status = next->Resume();
    last = chain.emplace_back(std::move(next)).get();
    kept = last->store.generations.size();
    if (status == RunStatus::kFinished) break;
  }
  EXPECT_GT(chain.size(), 3U);
  EXPECT_EQ(last->store.status, RunStatus::kFinished);
  EXPECT_EQ(Spelled(last->store.generations), Spelled(whole.store.generations));
}

// The database is closed and opened again at every interruption.
TEST(Resume, MakesTheSameCandidatesFromADatabase) {
  World whole(FakeRun());
  whole.Run();
  const TemporaryFolder folder;
  const std::string path = (folder / "evo.db").string();
  RunRecord run = FakeRun();
  run.id = SqliteStore(path).BeginRun(run);
  RunStatus status = RunStatus::kRunning;
  int processes = 0;
  for (; processes < 100 && status != RunStatus::kFinished; ++processes) {
    World world(run);
    SqliteStore store(path);
    world.evaluator.on_evaluated = [&](int evaluated) {
      if (evaluated == 11) world.interrupt.request_stop();
    };
    Evolution evolution({.run = run, .seeds = world.seeds},
                        {world.breeder, world.evaluator, store, world.observer, world.population, world.choice});
    status = evolution.Resume(StopCondition(run.generations, {}, world.interrupt.get_token()));
  }
  EXPECT_GT(processes, 3);
  EXPECT_EQ(Spelled(SqliteStore(path).LoadGenerations(run.id)), Spelled(whole.store.generations));
}

}  // namespace
}  // namespace evo
