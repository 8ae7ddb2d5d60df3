#include "engine/evolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/selection.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

RunRecord RunOf(std::uint64_t seed, int generations) {
  RunRecord run;
  run.id = 1;
  run.baseline = "line";
  run.seed = seed;
  run.generations = generations;
  run.population = 8;
  run.children = 10;
  run.operators = {{"step", 1.0}};
  return run;
}

struct World {
  FakeBreeder breeder;
  FakeEvaluator evaluator;
  FakeStore store;
  SilentObserver observer;
  std::stop_source interrupt;

  RunStatus Run(std::uint64_t seed, int generations, bool resume = false, std::optional<std::chrono::seconds> limit = {}) {
    ElitistPopulation population(8);
    Evolution evolution(RunOf(seed, generations), {GenomeOf(10)}, breeder, evaluator, store, observer, population);
    const StopCondition stop(generations, limit, interrupt.get_token());
    return resume ? evolution.Resume(stop) : evolution.Run(stop);
  }
  std::vector<std::string> Children() const {
    std::vector<std::string> children;
    for (const GenerationRecord& generation : store.generations) {
      for (const Candidate& c : generation.candidates) {
        children.push_back(fmt::format("{} in {} at {}: x {} from {}", c.id, c.generation, c.index, c.genome.parameters.at("x"), c.parents.empty() ? 0 : c.parents[0]));
      }
    }
    return children;
  }
};

TEST(Evolution, FindsTheOptimum) {
  World world;
  EXPECT_EQ(world.Run(1, 40), RunStatus::kFinished);
  EXPECT_EQ(world.observer.last.best_ns, 1000);
  EXPECT_EQ(world.observer.champion, world.observer.last.best);
  EXPECT_EQ(world.store.status, RunStatus::kFinished);
}

TEST(Evolution, MakesTheSameChildrenFromTheSameSeed) {
  World first, second, other;
  first.Run(5, 12);
  second.Run(5, 12);
  other.Run(6, 12);
  EXPECT_EQ(first.Children(), second.Children());
  EXPECT_NE(first.Children(), other.Children());
}

TEST(Evolution, BreedsFromThePopulationOfTwoGenerationsBefore) {
  World world;
  world.Run(3, 6);
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& candidate : generation.candidates) {
      for (const CandidateId parent : candidate.parents) {
        int born = -1;
        for (const GenerationRecord& earlier : world.store.generations) {
          for (const Candidate& c : earlier.candidates) born = c.id == parent ? c.generation : born;
        }
        EXPECT_LE(born, std::max(0, candidate.generation - 2)) << candidate.id;
      }
    }
  }
}

TEST(Evolution, ResumesAtEveryGenerationWithTheSameChildren) {
  constexpr int kGenerations = 9;
  World whole;
  whole.Run(11, kGenerations);
  for (std::size_t kept = 0; kept <= kGenerations; ++kept) {
    World resumed;
    const auto& all = whole.store.generations;
    resumed.store.generations.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(kept, all.size())));
    EXPECT_EQ(resumed.Run(11, kGenerations, true), RunStatus::kFinished);
    EXPECT_EQ(resumed.Children(), whole.Children()) << "with " << kept << " generations kept";
    EXPECT_EQ(resumed.observer.last.evaluated, whole.observer.last.evaluated);
    EXPECT_EQ(resumed.observer.resumed, kept > 0);
  }
}

TEST(Evolution, DropsWhatItHasSeen) {
  World world;
  world.Run(2, 30);
  std::set<std::int64_t> seen;
  int duplicates = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& candidate : generation.candidates) EXPECT_TRUE(seen.insert(candidate.genome.parameters.at("x")).second);
    duplicates += generation.duplicates;
  }
  EXPECT_GT(duplicates, 0);
  EXPECT_EQ(world.observer.last.duplicates, duplicates);
}

TEST(Evolution, RefusesABrokenBaselineAndSaysHow) {
  World world;
  world.evaluator.broken = 10;
  try {
    world.Run(1, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the baseline line does not pass: wrong_result in stage check: out by 0.5"));
  }
  EXPECT_EQ(world.store.status, RunStatus::kFailed);
  EXPECT_EQ(world.store.generations.size(), 1u);   // the failure is on record
}

TEST(Evolution, KeepsNothingOfAnInterruptedGeneration) {
  World world;
  world.evaluator.before_each = [&](const Candidate& candidate) {
    if (candidate.generation == 3 && candidate.index >= 4) world.interrupt.request_stop();
  };
  EXPECT_EQ(world.Run(1, 10), RunStatus::kInterrupted);
  EXPECT_EQ(world.store.generations.size(), 3u);
  EXPECT_EQ(world.store.status, RunStatus::kInterrupted);
  EXPECT_TRUE(world.evaluator.checked.empty());
}

TEST(Evolution, StopsWhenThereIsNothingNew) {
  World world;
  EXPECT_EQ(world.Run(1, 5000), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "nothing new to try");
  EXPECT_LT(world.store.generations.size(), 1000u);
}

TEST(Evolution, StopsAtTheTimeLimit) {
  World world;
  EXPECT_EQ(world.Run(1, 5000, false, std::chrono::seconds(0)), RunStatus::kFinished);
  EXPECT_EQ(world.store.message, "time limit");
  EXPECT_EQ(world.store.generations.size(), 1u);
}

TEST(Evolution, PassesOverAChampionThatFailsOnHeldOutCases) {
  World world;
  world.evaluator.fails_held_out = {{137, true}, {138, true}, {136, true}};
  world.Run(1, 40);
  ASSERT_GE(world.store.champions.size(), 2u);
  EXPECT_EQ(world.store.champions.front().second, Outcome::kWrongResult);
  EXPECT_EQ(world.store.champions.back().second, Outcome::kOk);
  EXPECT_EQ(world.observer.last.best, world.store.champions.back().first);
}

TEST(Evolution, RecordsEveryOutcome) {
  World world;
  world.Run(4, 20);
  int wrong = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    ASSERT_EQ(generation.candidates.size(), generation.evaluations.size());
    for (const Evaluation& evaluation : generation.evaluations) wrong += evaluation.outcome == Outcome::kWrongResult;
  }
  EXPECT_GT(wrong, 0);
  EXPECT_EQ(world.observer.last.evaluated - world.observer.last.valid, wrong);
}

Candidate CandidateOf(CandidateId id) {
  Candidate candidate;
  candidate.id = id;
  candidate.genome = GenomeOf(id);
  return candidate;
}
Evaluation Ok(double score, const std::string& image) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.score_ns = score;
  evaluation.image_digest = image;
  return evaluation;
}

TEST(ElitistPopulation, KeepsTheFastestOnceEachAndOnlyWhatPassed) {
  ElitistPopulation population(3);
  Evaluation wrong = Ok(1, "w");
  wrong.outcome = Outcome::kWrongResult;
  population.Survive({CandidateOf(1), CandidateOf(2), CandidateOf(3), CandidateOf(4), CandidateOf(5), CandidateOf(6)},
                     {Ok(5, "a"), Ok(4, "b"), Ok(3, "b"), wrong, Ok(5, "c"), Ok(9, "d")});
  std::vector<CandidateId> ids;
  for (const Individual& member : population.members()) ids.push_back(member.candidate.id);
  // 3 is the same program as 2 and came later; 1 and 5 are as fast as each other and stand by age; 6 is one too many.
  EXPECT_THAT(ids, ::testing::ElementsAre(2, 1, 5));
}

TEST(Selection, IsAFunctionOfItsNumbersAndTakesTwoDifferentParents) {
  ElitistPopulation population(20);
  for (int i = 1; i <= 20; ++i) population.Survive({CandidateOf(i)}, {Ok(i, std::to_string(i))});
  double ranks = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const Parents parents = SelectParents(population.members(), 9, 4, index);
    ASSERT_EQ(parents.ids.size(), 2u);
    EXPECT_NE(parents.ids[0], parents.ids[1]);
    EXPECT_EQ(parents.ids, SelectParents(population.members(), 9, 4, index).ids);
    ranks += static_cast<double>(parents.ids[0]);
  }
  EXPECT_LT(ranks / 200, 9);   // 10.5 without any pressure, 7.2 expected of a tournament of two
}

}  // namespace
}  // namespace evo
