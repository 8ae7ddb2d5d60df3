#include "engine/evolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "engine/selection.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::EvaluationAt;
using testing::FakeRun;
using ::testing::HasSubstr;
using testing::kStart;
using ::testing::SizeIs;
using testing::Spelled;
using testing::ValueOf;
using testing::World;

TEST(Evolution, ImprovesTowardsTheOptimum) {
  RunRecord run = FakeRun();
  run.generations = 40;
  World world(run);
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  const Progress& progress = world.evolution.progress();
  EXPECT_EQ(progress.baseline_ns, EvaluationAt(kStart).score_ns);
  EXPECT_LE(progress.best_ns, 1100) << "started at " << progress.baseline_ns;
  EXPECT_EQ(progress.generation, 40);
  // Never worse from one generation to the next.
  for (std::size_t i = 1; i < world.observer.generations.size(); ++i) {
    EXPECT_LE(world.observer.generations[i].best_ns, world.observer.generations[i - 1].best_ns);
  }
}

TEST(Evolution, GenerationZeroIsTheTemplatesWithTheBaselineFirst) {
  World world(FakeRun(), {testing::GenomeAt(50), testing::GenomeAt(60)});
  world.Run();
  const std::vector<Candidate>& first = world.store.generations.at(0).candidates;
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(ValueOf(first[0].genome), 50);
  EXPECT_EQ(ValueOf(first[1].genome), 60);
  for (const Candidate& candidate : first) {
    EXPECT_EQ(candidate.op, "default");
    EXPECT_TRUE(candidate.parents.empty());
  }
  EXPECT_EQ(world.evolution.progress().baseline_ns, EvaluationAt(50).score_ns);
}

TEST(Evolution, MakesTheSameChildrenWithTheSameSeedAndOthersWithAnother) {
  RunRecord run = FakeRun();
  World first(run);
  World second(run);
  run.seed = 8;
  World other(run);
  first.Run();
  second.Run();
  other.Run();
  EXPECT_EQ(Spelled(first.store.generations), Spelled(second.store.generations));
  EXPECT_NE(Spelled(first.store.generations), Spelled(other.store.generations));
}

TEST(Evolution, GivesIdsInOrderAndEvaluatesNoSourceTwice) {
  World world(FakeRun());
  world.Run();
  CandidateId expected = 1;
  std::set<std::string> sources;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      EXPECT_EQ(candidate.id, expected++);
      EXPECT_EQ(candidate.generation, generation.generation);
      EXPECT_TRUE(sources.insert(candidate.source).second)
          << "the source of candidate " << candidate.id << " was evaluated before";
    }
  }
}

// The parents that selection draws for a child from the population after generation `through`.
Parents SelectedParents(const World& world, int through, const Candidate& child) {
  ElitistPopulation population(static_cast<std::size_t>(world.run.population));
  for (int g = 0; g <= through; ++g) {
    const GenerationRecord& record = world.store.generations[static_cast<std::size_t>(g)];
    population.Survive(record.candidates, record.evaluations);
  }
  return SelectParents(population.members(), 2, world.run.seed, static_cast<std::uint64_t>(child.generation),
                       static_cast<std::uint64_t>(child.index));
}

TEST(Evolution, BreedsFromThePopulationOneGenerationBack) {
  World world(FakeRun());
  world.Run();
  int without_lag_would_differ = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    if (generation.generation == 0) continue;
    const int bred_after = std::max(0, generation.generation - 2);
    for (const Candidate& child : generation.candidates) {
      std::vector<CandidateId> expected = SelectedParents(world, bred_after, child).ids;
      ASSERT_FALSE(child.parents.empty());
      expected.resize(child.parents.size());
      EXPECT_EQ(child.parents, expected) << "candidate " << child.id;
      std::vector<CandidateId> unlagged = SelectedParents(world, generation.generation - 1, child).ids;
      unlagged.resize(std::min(unlagged.size(), child.parents.size()));
      if (unlagged != child.parents) ++without_lag_would_differ;
    }
  }
  EXPECT_GT(without_lag_would_differ, 0);
}

TEST(Evolution, RecordsTheSecondParentOnlyIfItWasUsed) {
  World world(FakeRun());
  world.Run();
  int crossovers = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& child : generation.candidates) {
      if (child.generation == 0) continue;
      EXPECT_THAT(child.parents, SizeIs(child.op == "crossover" ? 2 : 1)) << child.op;
      if (child.op == "crossover") ++crossovers;
    }
  }
  EXPECT_GT(crossovers, 0);
}

TEST(Evolution, CountsDuplicatesAndBreedsOthersInTheirPlace) {
  World world(FakeRun());
  world.Run();
  int duplicates = 0;
  bool made_up = false;
  for (const GenerationRecord& generation : world.store.generations) {
    if (generation.generation == 0) continue;
    int inapplicable = 0;
    for (const auto& [op, times] : generation.inapplicable) inapplicable += times;
    const int fresh = static_cast<int>(generation.candidates.size());
    const int bred = fresh + generation.duplicates + inapplicable;
    EXPECT_LE(fresh, world.run.children);
    EXPECT_GE(bred, world.run.children);
    if (fresh < world.run.children) {
      EXPECT_GT(bred, world.run.children) << "others were bred";
    }
    made_up = made_up || (fresh == world.run.children && bred > fresh);
    duplicates += generation.duplicates;
  }
  EXPECT_GT(duplicates, 0);
  EXPECT_TRUE(made_up) << "in one generation at least";
  EXPECT_EQ(world.evolution.progress().duplicates, duplicates);
}

TEST(Evolution, RejectsABaselineThatFailsAndSaysByHowMuch) {
  World world(FakeRun());
  world.evaluator.evaluate = [](const Candidate&) {
    Evaluation wrong;
    wrong.outcome = Outcome::kWrongResult;
    wrong.stage = Stage::kCheck;
    wrong.message = "case small: O: relative L2 error 3.10e-02 (allowed 1e-03)";
    return wrong;
  };
  try {
    world.Run();
    FAIL() << "the baseline is wrong";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("baseline x"));
    EXPECT_THAT(error.what(), HasSubstr("wrong_result"));
    EXPECT_THAT(error.what(), HasSubstr("3.10e-02 (allowed 1e-03)"));
  }
  EXPECT_EQ(world.store.status, RunStatus::kFailed);
  EXPECT_THAT(world.store.message, HasSubstr("3.10e-02"));
  EXPECT_THAT(world.store.generations, SizeIs(1)) << "the failure itself is kept";
  EXPECT_THROW(world.Again(1).Resume(), Error) << "nor does it go on when resumed";
}

TEST(Evolution, ATemplateOtherThanTheBaselineMayFail) {
  World world(FakeRun(), {testing::GenomeAt(50), testing::GenomeAt(26)});
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.at(0).evaluations.at(1).outcome, Outcome::kWrongResult);
}

TEST(Evolution, ABaselineApartIsMeasuredAndHasNoChildren) {
  World world({.run = FakeRun(), .seeds = {testing::GenomeAt(50), testing::GenomeAt(40)}, .baseline_apart = true});
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.at(0).evaluations.at(0).outcome, Outcome::kOk);
  int children = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& child : generation.candidates) {
      EXPECT_EQ(std::count(child.parents.begin(), child.parents.end(), 1), 0) << "candidate " << child.id;
      children += child.generation > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(children, 0);
}

TEST(Evolution, ABaselineApartIsAParentIfNoOtherTemplateIsOk) {
  World world({.run = FakeRun(), .seeds = {testing::GenomeAt(50), testing::GenomeAt(26)}, .baseline_apart = true});
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.at(1).candidates.at(0).parents.at(0), 1);
}

TEST(Evolution, RecordsNothingOfAnInterruptedGeneration) {
  for (int after = 1; after <= 40; ++after) {
    SCOPED_TRACE(after);
    World world(FakeRun());
    world.evaluator.on_evaluated = [&](int evaluated) {
      if (evaluated == after) world.interrupt.request_stop();
    };
    EXPECT_EQ(world.Run(), RunStatus::kInterrupted);
    EXPECT_EQ(world.store.status, RunStatus::kInterrupted);
    EXPECT_EQ(world.store.ends, 1);
    EXPECT_TRUE(world.store.champions.empty());
    std::size_t recorded = 0;
    for (const GenerationRecord& generation : world.store.generations) {
      recorded += generation.candidates.size();
      EXPECT_THAT(generation.evaluations, SizeIs(generation.candidates.size()));
      for (const Evaluation& evaluation : generation.evaluations) EXPECT_NE(evaluation.outcome, Outcome::kCancelled);
    }
    EXPECT_LE(recorded, static_cast<std::size_t>(after));
    EXPECT_GE(recorded + static_cast<std::size_t>(world.run.children), static_cast<std::size_t>(after))
        << "earlier generations are kept";
    EXPECT_EQ(world.observer.events.back(), "finished");
  }
}

TEST(Evolution, RecordsNothingIfInterruptedBeforeTheFirstGeneration) {
  World world(FakeRun());
  world.interrupt.request_stop();
  EXPECT_EQ(world.Run(), RunStatus::kInterrupted);
  EXPECT_TRUE(world.store.generations.empty());
  EXPECT_EQ(world.evaluator.evaluated, 0);
}

TEST(Evolution, EndsBetweenGenerationsAtTheTimeLimit) {
  RunRecord run = FakeRun();
  run.generations = 100000;
  World world(run);
  world.evaluator.on_evaluated = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  EXPECT_EQ(world.Run(std::chrono::seconds(1)), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "time limit");
  EXPECT_THAT(world.store.generations, SizeIs(::testing::AllOf(::testing::Ge(2U), ::testing::Le(40U))));
  EXPECT_THAT(world.store.champions, SizeIs(1)) << "the champion is still checked";
}

TEST(Evolution, EndsAfterThreeEmptyGenerationsInARow) {
  World world(FakeRun());
  for (std::uint64_t g = 4; g < 100; ++g) world.breeder.childless.insert(g);
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "nothing new to try");
  EXPECT_EQ(world.evolution.progress().generation, 6);
}

TEST(Evolution, GoesOnIfEmptyGenerationsAreNotInARow) {
  World world(FakeRun());
  world.breeder.childless = {3, 4, 6, 7, 9};
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.evolution.progress().generation, world.run.generations);
}

TEST(Evolution, RecordsEveryOutcomeAndNotifiesTheObserver) {
  World world(FakeRun());
  world.Run();
  std::set<Outcome> outcomes;
  int evaluated = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      outcomes.insert(generation.evaluations[i].outcome);
      EXPECT_EQ(generation.evaluations[i].outcome, EvaluationAt(ValueOf(generation.candidates[i].genome)).outcome);
      EXPECT_THAT(world.observer.events, Contains("evaluated " + std::to_string(generation.candidates[i].id)));
      ++evaluated;
    }
  }
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kOk, Outcome::kCrash, Outcome::kWrongResult));
  EXPECT_EQ(world.evolution.progress().evaluated, evaluated);
  EXPECT_EQ(world.observer.events.front(), "started");
  EXPECT_EQ(world.observer.events.back(), "finished");
}

std::size_t Candidates(const std::vector<GenerationRecord>& generations) {
  std::size_t count = 0;
  for (const GenerationRecord& generation : generations) count += generation.candidates.size();
  return count;
}

TEST(EvaluationLimit, EndsARunAfterExactlySoManyCandidates) {
  RunRecord run = FakeRun();
  run.generations = 1000;
  for (const int most : {1, 2, 9, 30, 31}) {
    World world(run);
    ASSERT_EQ(world.evolution.Run(StopCondition(run.generations, {}, {}, most)), RunStatus::kFinished);
    EXPECT_EQ(Candidates(world.store.generations), static_cast<std::size_t>(most));
    EXPECT_EQ(world.evolution.progress().evaluated, most);
  }
}

TEST(EvaluationLimit, EndsAResumedRunWhereTheWholeRunEnds) {
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

TEST(EvaluationLimit, ALimitThatIsNotReachedLeavesTheGenerations) {
  World world(FakeRun());
  ASSERT_EQ(world.evolution.Run(StopCondition(world.run.generations, {}, {}, 100'000)), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.back().generation, world.run.generations);
}

}  // namespace
}  // namespace evo
