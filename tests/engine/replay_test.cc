// Runs whose evaluations are looked up in those of an earlier run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/error.h"
#include "engine/population_kinds.h"
#include "engine/recorded_children.h"
#include "engine/replay_evaluator.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::Spelled;
using testing::World;

std::size_t Candidates(const std::vector<GenerationRecord>& generations) {
  std::size_t count = 0;
  for (const GenerationRecord& generation : generations) count += generation.candidates.size();
  return count;
}

RecordedEvaluations Recording(const World& world) {
  RecordedEvaluations recorded;
  for (const GenerationRecord& generation : world.store.generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      std::optional<ChampionCheck> check;
      for (const auto& [id, found] : world.store.champions) {
        if (id == generation.candidates[i].id) check = found;
      }
      if (IsTrial(generation))
        recorded.AddTrial(generation.evaluations[i], check);
      else
        recorded.Add(generation.evaluations[i], check);
    }
  }
  return recorded;
}

// A run that has the evaluations of another run and no others.
struct Replayed {
  Replayed(RunRecord record, const RecordedEvaluations& recorded, MissingChild missing, ChildRanker* ranker = nullptr)
      : run(std::move(record)),
        choice(MakeChoice(ranker)),
        recorded_children(*choice, recorded, missing),
        evaluator(recorded),
        population(MakePopulation(run.population_kind, static_cast<std::size_t>(run.population))),
        evolution({.run = run, .seeds = {testing::GenomeAt(testing::kStart)}},
                  {breeder, evaluator, store, observer, *population, recorded_children}) {}
  RunStatus Run(std::optional<int> evaluations = {}) {
    return evolution.Run(StopCondition(run.generations, {}, {}, evaluations));
  }

  RunRecord run;
  std::unique_ptr<ChildChoice> choice;
  RecordedChildren recorded_children;
  testing::FakeBreeder breeder;
  ReplayEvaluator evaluator;
  testing::MemoryStore store;
  testing::RecordingObserver observer;
  std::unique_ptr<Population> population;
  Evolution evolution;
};

TEST(Replay, MakesTheSameCandidatesAndChampion) {
  for (const char* kind : {"elitist", "islands", "niches", "random"}) {
    SCOPED_TRACE(kind);
    RunRecord run = FakeRun();
    run.population_kind = kind;
    World world(run);
    const auto population = MakePopulation(kind, static_cast<std::size_t>(run.population));
    Evolution whole(world.settings, world.Parts(*population, world.choice));
    ASSERT_EQ(whole.Run(StopCondition(run.generations, {}, {})), RunStatus::kFinished);
    const RecordedEvaluations recorded = Recording(world);
    for (const auto missing : {MissingChild::kReplace, MissingChild::kLeaveOut, MissingChild::kEndRun}) {
      Replayed replayed(run, recorded, missing);
      ASSERT_EQ(replayed.Run(), RunStatus::kFinished);
      EXPECT_EQ(Spelled(replayed.store.generations), Spelled(world.store.generations));
      ASSERT_THAT(replayed.store.champions, SizeIs(1));
      EXPECT_EQ(replayed.store.champions[0].first, world.store.champions[0].first);
      EXPECT_THAT(replayed.store.message, HasSubstr("replayed; 0 of"));
    }
  }
}

// Three children are bred for each that is evaluated, and two of them are not recorded.
TEST(Replay, MakesTheSameCandidatesWithASurrogate) {
  World world(FakeRun());
  ChildRanker ranker(world.seeds, {"step"}, world.run.seed);
  ElitistPopulation population(6);
  RankedChildren ranked(ranker);
  Evolution whole(world.settings, world.Parts(population, ranked));
  ASSERT_EQ(whole.Run(StopCondition(world.run.generations, {}, {})), RunStatus::kFinished);
  ASSERT_GT(world.breeder.batches.back().size(), static_cast<std::size_t>(world.run.children)) << "the surrogate was trusted";
  const RecordedEvaluations recorded = Recording(world);
  ChildRanker again(world.seeds, {"step"}, world.run.seed);
  Replayed replayed(world.run, recorded, MissingChild::kEndRun, &again);
  ASSERT_EQ(replayed.Run(), RunStatus::kFinished);
  EXPECT_EQ(Spelled(replayed.store.generations), Spelled(world.store.generations));
}

TEST(Replay, WithAnotherSeedEvaluatesRecordedChildrenOnly) {
  World world(FakeRun());
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  const RecordedEvaluations recorded = Recording(world);
  RunRecord run = FakeRun();
  run.seed = 8;
  Replayed replaced(run, recorded, MissingChild::kReplace);
  ASSERT_EQ(replaced.Run(), RunStatus::kFinished);
  for (const GenerationRecord& generation : replaced.store.generations) {
    for (const Evaluation& evaluation : generation.evaluations) EXPECT_NE(evaluation.outcome, Outcome::kCancelled);
  }
  Replayed skipped(run, recorded, MissingChild::kLeaveOut);
  ASSERT_EQ(skipped.Run(), RunStatus::kFinished);
  EXPECT_LT(Candidates(skipped.store.generations), Candidates(replaced.store.generations));
  EXPECT_GT(Candidates(skipped.store.generations), 1U);
  Replayed again(run, recorded, MissingChild::kReplace);
  again.Run();
  EXPECT_EQ(Spelled(again.store.generations), Spelled(replaced.store.generations));
}

TEST(Replay, EndsAtAMissingChildIfThatEndsTheRun) {
  World world(FakeRun());
  world.Run();
  const RecordedEvaluations recorded = Recording(world);
  RunRecord run = FakeRun();
  run.seed = 8;
  Replayed replayed(run, recorded, MissingChild::kEndRun);
  try {
    replayed.Run();
    FAIL() << "a child was not recorded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not recorded"));
  }
}

TEST(Replay, RejectsATemplateThatWasNotRecorded) {
  const RecordedEvaluations nothing;
  Replayed replayed(FakeRun(), nothing, MissingChild::kReplace);
  try {
    replayed.Run();
    FAIL() << "the template was not recorded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("template x at its defaults is not among the recorded evaluations"));
  }
  EXPECT_THAT(replayed.store.generations, SizeIs(0));
}

}  // namespace
}  // namespace evo
