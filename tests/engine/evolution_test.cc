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

TEST(Evolution, SameSeedSameChildrenAnotherSeedOthers) {
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

TEST(Evolution, IdsAreGivenInOrderFromOneAndSourcesAreNew) {
  World world(FakeRun());
  world.Run();
  CandidateId expected = 1;
  std::set<std::string> sources;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      EXPECT_EQ(candidate.id, expected++);
      EXPECT_EQ(candidate.generation, generation.generation);
      EXPECT_TRUE(sources.insert(candidate.source).second) << "candidate " << candidate.id << " had been seen";
    }
  }
}

// The parents that selection draws for a child from the members as they stood after `through` generations.
Parents Selected(const World& world, int through, const Candidate& child) {
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
      std::vector<CandidateId> expected = Selected(world, bred_after, child).ids;
      ASSERT_FALSE(child.parents.empty());
      expected.resize(child.parents.size());
      EXPECT_EQ(child.parents, expected) << "candidate " << child.id;
      std::vector<CandidateId> unlagged = Selected(world, generation.generation - 1, child).ids;
      unlagged.resize(std::min(unlagged.size(), child.parents.size()));
      if (unlagged != child.parents) ++without_lag_would_differ;
    }
  }
  EXPECT_GT(without_lag_would_differ, 0);
}

TEST(Evolution, TheSecondParentIsRecordedOnlyWhereItWasUsed) {
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

TEST(Evolution, DuplicatesAreDroppedAndCountedAndGiveWayToOthers) {
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
      EXPECT_GT(bred, world.run.children) << "others were tried";
    }
    made_up = made_up || (fresh == world.run.children && bred > fresh);
    duplicates += generation.duplicates;
  }
  EXPECT_GT(duplicates, 0);
  EXPECT_TRUE(made_up) << "in one generation at least";
  EXPECT_EQ(world.evolution.progress().duplicates, duplicates);
}

TEST(Evolution, RefusesABaselineThatFailsAndSaysByHowMuch) {
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
    FAIL() << "a run without a baseline";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("baseline x"));
    EXPECT_THAT(error.what(), HasSubstr("wrong_result"));
    EXPECT_THAT(error.what(), HasSubstr("3.10e-02 (allowed 1e-03)"));
  }
  EXPECT_EQ(world.store.status, RunStatus::kFailed);
  EXPECT_THAT(world.store.message, HasSubstr("3.10e-02"));
  EXPECT_THAT(world.store.generations, SizeIs(1)) << "the failure itself is kept";
  EXPECT_THROW(world.Again(1).Resume(), Error) << "resuming does not get round it";
}

TEST(Evolution, ATemplateBesideTheBaselineMayFail) {
  World world(FakeRun(), {testing::GenomeAt(50), testing::GenomeAt(26)});
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.at(0).evaluations.at(1).outcome, Outcome::kWrongResult);
}

TEST(Evolution, ABaselineApartIsMeasuredAndHasNoChildren) {
  World world(FakeRun(), {testing::GenomeAt(50), testing::GenomeAt(40)});
  world.evolution.KeepBaselineApart();
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

TEST(Evolution, ABaselineApartIsAParentWhereNothingElseIsOk) {
  World world(FakeRun(), {testing::GenomeAt(50), testing::GenomeAt(26)});
  world.evolution.KeepBaselineApart();
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.generations.at(1).candidates.at(0).parents.at(0), 1);
}

TEST(Evolution, WhatAToolObjectsToInOneTemplateIsSoughtInAnother) {
  Genome other = testing::GenomeAt(49);
  other.template_name = "other";
  World world(FakeRun(), {testing::GenomeAt(50), other});
  world.evolution.KeepBaselineApart();
  world.evaluator.check = [](const Candidate& candidate) {
    ChampionCheck check;
    const bool clean = candidate.genome.template_name == "other";
    check.outcome = clean ? Outcome::kOk : Outcome::kNondeterministic;
    check.tools = {{"synccheck", clean ? "clean" : "error", ""}};
    return check;
  };
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  int failed = 0;
  for (const auto& [id, check] : world.store.champions) failed += check.outcome == Outcome::kOk ? 0 : 1;
  EXPECT_EQ(failed, 3) << "three of one template are enough";
  ASSERT_FALSE(world.store.champions.empty());
  EXPECT_EQ(world.store.champions.back().second.outcome, Outcome::kOk);
  EXPECT_EQ(world.evaluator.checked.back().genome.template_name, "other");
}

TEST(Evolution, AnInterruptedGenerationLeavesNothing) {
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

TEST(Evolution, InterruptedBeforeTheFirstGenerationRecordsNothing) {
  World world(FakeRun());
  world.interrupt.request_stop();
  EXPECT_EQ(world.Run(), RunStatus::kInterrupted);
  EXPECT_TRUE(world.store.generations.empty());
  EXPECT_EQ(world.evaluator.evaluated, 0);
}

TEST(Evolution, TheTimeLimitEndsARunBetweenGenerations) {
  RunRecord run = FakeRun();
  run.generations = 100000;
  World world(run);
  world.evaluator.on_evaluated = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  EXPECT_EQ(world.Run(std::chrono::seconds(1)), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "time limit");
  EXPECT_THAT(world.store.generations, SizeIs(::testing::AllOf(::testing::Ge(2U), ::testing::Le(40U))));
  EXPECT_THAT(world.store.champions, SizeIs(1)) << "what was found is still checked";
}

TEST(Evolution, ThreeEmptyGenerationsEndARun) {
  World world(FakeRun());
  for (std::uint64_t g = 4; g < 100; ++g) world.breeder.barren.insert(g);
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "nothing new to try");
  EXPECT_EQ(world.evolution.progress().generation, 6);
}

TEST(Evolution, EmptyGenerationsMustFollowOneAnother) {
  World world(FakeRun());
  world.breeder.barren = {3, 4, 6, 7, 9};
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_EQ(world.evolution.progress().generation, world.run.generations);
}

TEST(Evolution, EveryOutcomeIsRecordedAndHeard) {
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

TEST(Evolution, AWouldBeChampionThatFailsGivesWayToTheNext) {
  World world(FakeRun());
  world.evaluator.check = [&](const Candidate&) {
    ChampionCheck check;
    check.outcome = world.evaluator.checked.size() <= 2 ? Outcome::kWrongResult : Outcome::kOk;
    check.speedup = 2;
    return check;
  };
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_THAT(world.store.champions, SizeIs(3)) << "those that failed are recorded too";
  EXPECT_EQ(world.store.champions[0].second.outcome, Outcome::kWrongResult);
  EXPECT_EQ(world.store.champions[1].second.outcome, Outcome::kWrongResult);
  EXPECT_EQ(world.store.champions[2].second.outcome, Outcome::kOk);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(world.store.champions[i].first, world.population.members()[i].candidate.id) << "fastest first";
    EXPECT_FALSE(world.evaluator.checked[i].source.empty());
  }
  EXPECT_EQ(world.evolution.progress().best, world.store.champions[2].first);
}

TEST(Evolution, ARunInterruptedWhileItsChampionIsCheckedHasNone) {
  World world(FakeRun());
  world.evaluator.check = [&](const Candidate&) {
    world.interrupt.request_stop();
    return ChampionCheck{};  // cancelled
  };
  EXPECT_EQ(world.Run(), RunStatus::kInterrupted);
  EXPECT_TRUE(world.store.champions.empty());
  EXPECT_THAT(world.store.generations, SizeIs(static_cast<std::size_t>(world.run.generations) + 1));
}

}  // namespace
}  // namespace evo
