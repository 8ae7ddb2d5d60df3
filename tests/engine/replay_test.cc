// Runs that are answered from what was recorded, and runs that end after so many evaluations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/digest.h"
#include "core/error.h"
#include "engine/population_kinds.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
      recorded.Add(generation.evaluations[i], check);
    }
  }
  return recorded;
}

TEST(RecordedEvaluations, AnswerEachMeasurementOfASourceWithItsOwn) {
  RecordedEvaluations recorded;
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.source_digest = "s";
  for (const double ns : {1'000.0, 1'010.0, 1'020.0}) {
    evaluation.score_ns = ns;
    evaluation.shared_candidate = 0;
    recorded.Add(evaluation);
    evaluation.shared_candidate = 1;  // a copy of the first, which is no measurement
    evaluation.score_ns = 1'000;
    recorded.Add(evaluation);
  }
  EXPECT_EQ(recorded.Find("s")->score_ns, 1'000);
  EXPECT_EQ(recorded.Find("s", 1)->score_ns, 1'010);
  EXPECT_EQ(recorded.Find("s", 2)->score_ns, 1'020);
  EXPECT_EQ(recorded.Find("s", 3)->score_ns, 1'020) << "no more were made";
  EXPECT_EQ(recorded.Find("t", 1), nullptr);
}

// A run with the evaluations of another and nothing else.
struct Replayed {
  Replayed(RunRecord record, const RecordedEvaluations& recorded, Evolution::Missing missing, ChildRanker* ranker = nullptr)
      : run(std::move(record)),
        evaluator(recorded),
        population(MakePopulation(run.population_kind, static_cast<std::size_t>(run.population))),
        evolution(run, {testing::GenomeAt(testing::kStart)}, breeder, evaluator, store, observer, *population, ranker) {
    evolution.RestrictTo(recorded, missing);
  }
  RunStatus Run(std::optional<int> evaluations = {}) {
    return evolution.Run(StopCondition(run.generations, {}, {}, evaluations));
  }

  RunRecord run;
  testing::FakeBreeder breeder;
  ReplayEvaluator evaluator;
  testing::MemoryStore store;
  testing::RecordingObserver observer;
  std::unique_ptr<Population> population;
  Evolution evolution;
};

TEST(Replay, OfARunMakesTheSameCandidatesAndChampion) {
  for (const char* kind : {"elitist", "islands", "random"}) {
    SCOPED_TRACE(kind);
    RunRecord run = FakeRun();
    run.population_kind = kind;
    World world(run);
    const auto population = MakePopulation(kind, static_cast<std::size_t>(run.population));
    Evolution whole(run, world.seeds, world.breeder, world.evaluator, world.store, world.observer, *population);
    ASSERT_EQ(whole.Run(StopCondition(run.generations, {}, {})), RunStatus::kFinished);
    const RecordedEvaluations recorded = Recording(world);
    for (const auto missing : {Evolution::Missing::kGivesWay, Evolution::Missing::kIsLeftOut, Evolution::Missing::kEndsTheRun}) {
      Replayed replayed(run, recorded, missing);
      ASSERT_EQ(replayed.Run(), RunStatus::kFinished);
      EXPECT_EQ(Spelled(replayed.store.generations), Spelled(world.store.generations));
      ASSERT_THAT(replayed.store.champions, SizeIs(1));
      EXPECT_EQ(replayed.store.champions[0].first, world.store.champions[0].first);
      EXPECT_THAT(replayed.store.message, HasSubstr("replayed; 0 of"));
    }
  }
}

// Of three children that are bred for each that is evaluated, two are recorded nowhere.
TEST(Replay, OfARunWithASurrogateIsTheSameAgain) {
  World world(FakeRun());
  ChildRanker ranker(world.seeds, {"step"}, world.run.seed);
  ElitistPopulation population(6);
  Evolution whole(world.run, world.seeds, world.breeder, world.evaluator, world.store, world.observer, population, &ranker);
  ASSERT_EQ(whole.Run(StopCondition(world.run.generations, {}, {})), RunStatus::kFinished);
  ASSERT_GT(world.breeder.batches.back().size(), static_cast<std::size_t>(world.run.children)) << "the surrogate was trusted";
  const RecordedEvaluations recorded = Recording(world);
  ChildRanker again(world.seeds, {"step"}, world.run.seed);
  Replayed replayed(world.run, recorded, Evolution::Missing::kEndsTheRun, &again);
  ASSERT_EQ(replayed.Run(), RunStatus::kFinished);
  EXPECT_EQ(Spelled(replayed.store.generations), Spelled(world.store.generations));
}

TEST(Replay, OfAnotherSeedTakesOnlyWhatIsRecorded) {
  World world(FakeRun());
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  const RecordedEvaluations recorded = Recording(world);
  RunRecord run = FakeRun();
  run.seed = 8;
  Replayed replaced(run, recorded, Evolution::Missing::kGivesWay);
  ASSERT_EQ(replaced.Run(), RunStatus::kFinished);
  for (const GenerationRecord& generation : replaced.store.generations) {
    for (const Evaluation& evaluation : generation.evaluations) EXPECT_NE(evaluation.outcome, Outcome::kCancelled);
  }
  Replayed skipped(run, recorded, Evolution::Missing::kIsLeftOut);
  ASSERT_EQ(skipped.Run(), RunStatus::kFinished);
  EXPECT_LT(Candidates(skipped.store.generations), Candidates(replaced.store.generations));
  EXPECT_GT(Candidates(skipped.store.generations), 1U);
  Replayed again(run, recorded, Evolution::Missing::kGivesWay);
  again.Run();
  EXPECT_EQ(Spelled(again.store.generations), Spelled(replaced.store.generations));
}

TEST(Replay, EndsAtAMissingChildIfAsked) {
  World world(FakeRun());
  world.Run();
  const RecordedEvaluations recorded = Recording(world);
  RunRecord run = FakeRun();
  run.seed = 8;
  Replayed replayed(run, recorded, Evolution::Missing::kEndsTheRun);
  try {
    replayed.Run();
    FAIL() << "a child was not recorded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not recorded"));
  }
}

TEST(Replay, OfATemplateThatWasNotRecordedIsRefused) {
  const RecordedEvaluations nothing;
  Replayed replayed(FakeRun(), nothing, Evolution::Missing::kGivesWay);
  EXPECT_THROW(replayed.Run(), Error);
}

TEST(RecordedEvaluations, TheFirstCountsUnlessItIsNoisy) {
  RecordedEvaluations recorded;
  Evaluation evaluation = testing::EvaluationAt(3);
  evaluation.outcome = Outcome::kCancelled;
  recorded.Add(evaluation);
  EXPECT_EQ(recorded.size(), 0U);
  evaluation.outcome = Outcome::kNoisy;
  recorded.Add(evaluation);
  evaluation = testing::EvaluationAt(3);
  evaluation.shared_run = 4;
  evaluation.shared_candidate = 5;
  recorded.Add(evaluation);
  evaluation.score_ns = 1;
  recorded.Add(evaluation);
  ASSERT_NE(recorded.Find(evaluation.source_digest), nullptr);
  EXPECT_EQ(recorded.Find(evaluation.source_digest)->score_ns, testing::EvaluationAt(3).score_ns);
  EXPECT_EQ(recorded.Find(evaluation.source_digest)->shared_candidate, 0) << "a place in another database";
  EXPECT_EQ(recorded.Find("another"), nullptr);
  EXPECT_EQ(recorded.FindCheck(evaluation.source_digest), nullptr);
}

TEST(ReplayEvaluator, CancelsWhatItDoesNotKnow) {
  const RecordedEvaluations nothing;
  ReplayEvaluator evaluator(nothing);
  Candidate candidate;
  candidate.source = "unknown";
  evaluator.Start({candidate});
  int heard = 0;
  const std::vector<Evaluation> evaluations = evaluator.Finish({}, [&](const Candidate&, const Evaluation&) { ++heard; });
  ASSERT_THAT(evaluations, SizeIs(1));
  EXPECT_EQ(evaluations[0].outcome, Outcome::kCancelled);
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(evaluator.CheckChampion(candidate, candidate, {}).outcome, Outcome::kCancelled);
}

TEST(Evaluations, EndARunAfterExactlySoMany) {
  RunRecord run = FakeRun();
  run.generations = 1000;
  for (const int most : {1, 2, 9, 30, 31}) {
    World world(run);
    ASSERT_EQ(world.evolution.Run(StopCondition(run.generations, {}, {}, most)), RunStatus::kFinished);
    EXPECT_EQ(Candidates(world.store.generations), static_cast<std::size_t>(most));
    EXPECT_EQ(world.evolution.progress().evaluated, most);
  }
}

TEST(Evaluations, AnInterruptedRunEndsWhereTheWholeOneDid) {
  RunRecord run = FakeRun();
  run.generations = 1000;
  World whole(run);
  const StopCondition stop(run.generations, {}, {}, 45);
  ASSERT_EQ(whole.evolution.Run(stop), RunStatus::kFinished);
  for (std::size_t kept = 0; kept <= whole.store.generations.size(); ++kept) {
    World& resumed = whole.Again(kept);
    ASSERT_EQ(resumed.evolution.Resume(stop), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), Spelled(whole.store.generations)) << kept;
  }
}

TEST(Evaluations, MoreThanThereAreEndWithTheGenerations) {
  World world(FakeRun());
  ASSERT_EQ(world.evolution.Run(StopCondition(world.run.generations, {}, {}, 100'000)), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.back().generation, world.run.generations);
}

}  // namespace
}  // namespace evo
