#include "engine/population_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "engine/islands.h"
#include "engine/map_elites.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Generation {
  std::vector<Candidate> candidates;
  std::vector<Evaluation> evaluations;

  Evaluation& Add(CandidateId id, int index, int generation, double score_ns) {
    Candidate candidate;
    candidate.id = id;
    candidate.index = index;
    candidate.generation = generation;
    candidate.genome = testing::GenomeAt(id);
    candidates.push_back(candidate);
    Evaluation& evaluation = evaluations.emplace_back();
    evaluation.outcome = Outcome::kOk;
    evaluation.score_ns = score_ns;
    evaluation.program_digest = std::to_string(id);
    return evaluation;
  }
};

std::vector<CandidateId> Ids(const std::vector<Individual>& members) {
  std::vector<CandidateId> ids;
  for (const Individual& member : members) ids.push_back(member.candidate.id);
  return ids;
}

TEST(IslandPopulation, ParentsLiveOnTheChildsIsland) {
  IslandPopulation population(4, 2, 100);
  Generation first;
  for (int i = 0; i < 6; ++i) first.Add(i + 1, i, 0, 10 * (6 - i));
  population.Survive(first.candidates, first.evaluations);
  EXPECT_THAT(Ids(population.Mates(0)), ElementsAre(5, 3)) << "of 1, 3 and 5 the two fastest";
  EXPECT_THAT(Ids(population.Mates(1)), ElementsAre(6, 4));
  EXPECT_THAT(Ids(population.Mates(2)), ElementsAre(5, 3)) << "the third child lives on the first of two islands";
  EXPECT_THAT(Ids(population.members()), ElementsAre(6, 5, 4, 3));
}

TEST(IslandPopulation, ChildrenOfAnEmptyIslandHaveParentsFromAnyIsland) {
  IslandPopulation population(8, 4, 100);
  EXPECT_THAT(population.Mates(3), IsEmpty());
  Generation first;
  first.Add(1, 0, 0, 10);
  population.Survive(first.candidates, first.evaluations);
  EXPECT_THAT(Ids(population.Mates(3)), ElementsAre(1));
}

TEST(IslandPopulation, TheFastestOfEachIslandMigratesInARing) {
  IslandPopulation population(4, 2, 3);
  Generation early, late;
  for (int i = 0; i < 4; ++i) early.Add(i + 1, i, 2, 10 + i);
  population.Survive(early.candidates, early.evaluations);
  EXPECT_THAT(Ids(population.Mates(0)), ElementsAre(1, 3)) << "not yet";
  late.Add(5, 1, 3, 50);
  population.Survive(late.candidates, late.evaluations);
  EXPECT_THAT(Ids(population.Mates(0)), ElementsAre(1, 2));
  EXPECT_THAT(Ids(population.Mates(1)), ElementsAre(1, 2));
  EXPECT_THAT(Ids(population.members()), ElementsAre(1, 2)) << "each once, although both live on two islands";
}

TEST(IslandPopulation, HoldsEqualProgramsOnceAndNoFailures) {
  IslandPopulation population(4, 2, 100);
  Generation first;
  first.Add(1, 0, 0, 10).program_digest = "same";
  first.Add(2, 1, 0, 9).program_digest = "same";
  Evaluation& failed = first.Add(3, 1, 0, 8);
  failed.outcome = Outcome::kWrongResult;
  population.Survive(first.candidates, first.evaluations);
  EXPECT_THAT(Ids(population.members()), ElementsAre(1));
}

KernelFacts Facts(int registers, int shared_bytes, double occupancy) {
  KernelFacts facts;
  facts.registers = registers;
  facts.static_shared_bytes = shared_bytes;
  facts.occupancy = occupancy;
  return facts;
}

TEST(ResourceCell, ClassifiesTheKnownResources) {
  const auto cell = [](const KernelFacts& facts) {
    Evaluation evaluation;
    evaluation.facts = facts;
    return ResourceCell({}, evaluation);
  };
  EXPECT_THAT(cell({}), ElementsAre(-1, -1, -1));
  EXPECT_THAT(cell(Facts(32, 0, 0.1)), ElementsAre(0, 0, 0));
  EXPECT_THAT(cell(Facts(33, 1, 0.25)), ElementsAre(1, 1, 1));
  EXPECT_THAT(cell(Facts(255, 200 << 10, 1.0)), ElementsAre(6, 7, 3));
  KernelFacts dynamic = Facts(64, 4096, 0.5);
  dynamic.dynamic_shared_bytes = 4097;
  EXPECT_THAT(cell(dynamic), ElementsAre(2, 2, 2)) << "static and dynamic together";
}

TEST(MapElitesPopulation, KeepsTheFastestOfEveryCell) {
  MapElitesPopulation population(2);
  Generation first;
  first.Add(1, 0, 0, 10).facts = Facts(32, 0, 1);
  first.Add(2, 1, 0, 11).facts = Facts(32, 0, 1);
  first.Add(3, 2, 0, 90).facts = Facts(128, 0, 0.5);
  first.Add(4, 3, 0, 80).facts = Facts(128, 0, 0.5);
  first.Add(5, 4, 0, 99).facts = Facts(128, 40000, 0.5);
  population.Survive(first.candidates, first.evaluations);
  EXPECT_EQ(population.cells(), 3U);
  EXPECT_THAT(Ids(population.members()), ElementsAre(1, 4, 5))
      << "5 is slow but alone in its cell; the capacity does not limit the cells";
  Generation second;
  second.Add(6, 0, 1, 70).facts = Facts(128, 0, 0.5);
  second.Add(7, 1, 1, 1).facts = Facts(255, 0, 0.1);
  second.evaluations.back().outcome = Outcome::kCrash;
  population.Survive(second.candidates, second.evaluations);
  EXPECT_THAT(Ids(population.members()), ElementsAre(1, 6, 5));
}

TEST(MapElitesPopulation, WithoutFactsEqualsTheElitistPopulation) {
  MapElitesPopulation population(3);
  ElitistPopulation elitist(3);
  Generation first;
  for (int i = 0; i < 5; ++i) first.Add(i + 1, i, 0, 50 - i);
  population.Survive(first.candidates, first.evaluations);
  elitist.Survive(first.candidates, first.evaluations);
  EXPECT_EQ(population.cells(), 1U);
  EXPECT_EQ(Ids(population.members()), Ids(elitist.members()));
}

TEST(MakePopulation, KnowsItsKindsAndRejectsOthers) {
  for (const std::string& kind : PopulationKinds()) EXPECT_NE(MakePopulation(kind, 16), nullptr) << kind;
  EXPECT_EQ(PopulationKinds().front(), "elitist");
  EXPECT_THROW(MakePopulation("crowd", 16), UsageError);
}

// A whole run with each kind gets faster, and a second one makes the same candidates.
TEST(MakePopulation, EveryKindMakesTheSameCandidatesAgain) {
  for (const std::string& kind : PopulationKinds()) {
    SCOPED_TRACE(kind);
    std::string first;
    for (int round = 0; round < 2; ++round) {
      testing::World world(testing::FakeRun());
      const auto population = MakePopulation(kind, static_cast<std::size_t>(world.run.population));
      Evolution evolution(world.settings, world.Parts(*population, world.choice));
      ASSERT_EQ(evolution.Run(StopCondition(world.run.generations, {}, {})), RunStatus::kFinished);
      const std::string spelled = testing::Spelled(world.store.generations);
      if (round == 0) first = spelled;
      EXPECT_EQ(spelled, first);
      EXPECT_LT(evolution.progress().best_ns, evolution.progress().baseline_ns);
    }
  }
}

// A resumed run has the population of the whole run.
TEST(MakePopulation, EveryKindMakesTheSameCandidatesWhenResumed) {
  for (const std::string& kind : PopulationKinds()) {
    SCOPED_TRACE(kind);
    testing::World world(testing::FakeRun());
    const auto whole = MakePopulation(kind, 8);
    Evolution evolution(world.settings, world.Parts(*whole, world.choice));
    ASSERT_EQ(evolution.Run(StopCondition(world.run.generations, {}, {})), RunStatus::kFinished);
    const std::string expected = testing::Spelled(world.store.generations);
    for (const std::size_t kept : {std::size_t{1}, std::size_t{3}, world.store.generations.size() - 1}) {
      testing::World& again = world.Again(kept);
      const auto population = MakePopulation(kind, 8);
      Evolution resumed(again.settings, again.Parts(*population, again.choice));
      ASSERT_EQ(resumed.Resume(StopCondition(again.run.generations, {}, {})), RunStatus::kFinished);
      EXPECT_EQ(testing::Spelled(again.store.generations), expected) << kept;
    }
  }
}

}  // namespace
}  // namespace evo
