#include "engine/reproduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "engine/selection.h"
#include "engine/trial_runner.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::EvaluationAt;
using testing::FakeRun;
using testing::GenomeAt;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::ValueOf;
using testing::World;

// A reproduction alone, with the fakes of a world that is not run.
struct Reproduced {
  explicit Reproduced(RunRecord run = FakeRun(), std::vector<Genome> seeds = {GenomeAt(50), GenomeAt(60)})
      : world(std::move(run), std::move(seeds)), parts(world.Parts(world.population, world.choice)) {}

  // Generation 0, evaluated and learnt.
  void Begin() { Learn(reproduction.Defaults({})); }
  void Learn(GenerationRecord record) {
    for (const Candidate& candidate : record.candidates) record.evaluations.push_back(EvaluationAt(ValueOf(candidate.genome)));
    world.population.Survive(record.candidates, record.evaluations);
    reproduction.Learn(record);
  }
  StopCondition Stop(std::optional<int> evaluations = {}) const {
    return StopCondition(world.run.generations, {}, world.interrupt.get_token(), evaluations);
  }

  World world;
  EvolutionParts parts;
  Reproduction reproduction{world.settings, parts};
};

std::vector<CandidateId> Ids(const GenerationRecord& record) {
  std::vector<CandidateId> ids;
  for (const Candidate& candidate : record.candidates) ids.push_back(candidate.id);
  return ids;
}

TEST(Reproduction, RendersTheSeedsAsGenerationZero) {
  Reproduced reproduced;
  const GenerationRecord first = reproduced.reproduction.Defaults({});
  EXPECT_EQ(first.generation, 0);
  EXPECT_THAT(Ids(first), ElementsAre(1, 2));
  for (const Candidate& candidate : first.candidates) {
    EXPECT_EQ(candidate.op, kDefault);
    EXPECT_EQ(candidate.source, testing::SourceAt(ValueOf(candidate.genome)));
  }
}

TEST(Reproduction, MakesSmallGenerationsWhileARunIsEarly) {
  World world(EvolutionSettings{.run = FakeRun(), .seeds = {GenomeAt(50)}, .early_children = 6, .early_candidates = 60});
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  std::size_t made = 1;
  std::set<std::size_t> sizes;
  for (std::size_t g = 1; g < world.store.generations.size(); ++g) {
    const std::size_t size = world.store.generations[g].candidates.size();
    const auto most = static_cast<std::size_t>(made < 60 ? 6 : world.run.children);
    EXPECT_LE(size, most) << "generation " << g << " after " << made << " candidates";
    sizes.insert(size);
    made += size;
  }
  EXPECT_GT(made, 60U) << "the run is too short to show both";
  EXPECT_TRUE(sizes.contains(6));
  EXPECT_TRUE(sizes.contains(static_cast<std::size_t>(world.run.children)));
}

TEST(Reproduction, RejectsASeedThatCannotBeRendered) {
  Reproduced reproduced;
  reproduced.world.breeder.childless = {0};
  EXPECT_THROW(reproduced.reproduction.Defaults({}), Error);
}

TEST(Reproduction, SelectsTheParentsOfEveryChildByItsPlace) {
  Reproduced reproduced;
  reproduced.Begin();
  const Offspring offspring = reproduced.reproduction.Select(3);
  ASSERT_THAT(offspring.requests, SizeIs(static_cast<std::size_t>(reproduced.world.run.children)));
  ASSERT_THAT(offspring.parents, SizeIs(offspring.requests.size()));
  for (std::size_t i = 0; i < offspring.requests.size(); ++i) {
    const BreedRequest& request = offspring.requests[i];
    EXPECT_EQ(request.seed, reproduced.world.run.seed);
    EXPECT_EQ(request.generation, 3u);
    EXPECT_EQ(request.index, i);
    EXPECT_THAT(request.operators, ElementsAre(std::pair<std::string, double>("step", 1.0)));
    const Parents expected = SelectParents(reproduced.world.population.members(), 2, reproduced.world.run.seed, 3, i);
    EXPECT_EQ(offspring.parents[i], expected.ids);
    EXPECT_EQ(request.parents, expected.genomes);
  }
}

TEST(Reproduction, DrawsOperatorsByTheSelectionIfThereIsOne) {
  Reproduced reproduced;
  OperatorSelection selection({{"a", 1}, {"b", 3}});
  const EvolutionParts parts = reproduced.world.Parts(reproduced.world.population, reproduced.world.choice, &selection);
  Reproduction reproduction(reproduced.world.settings, parts);
  reproduced.Begin();
  const Offspring offspring = reproduction.Select(1);
  EXPECT_THAT(offspring.weights, ElementsAre(std::pair(Bottleneck::kNone, selection.Weights())));
}

TEST(Reproduction, DrawsOperatorsByTheBottleneckOfTheFirstParent) {
  Reproduced reproduced;
  OperatorSelection selection({{"a", 1}, {"b", 1}, {"c", 1}}, {}, BottleneckKnowledge{{{Bottleneck::kSpills, {{"b", 3}}}}, {}});
  const EvolutionParts parts = reproduced.world.Parts(reproduced.world.population, reproduced.world.choice, &selection);
  Reproduction reproduction(reproduced.world.settings, parts);
  reproduced.Begin();
  GenerationRecord record;
  for (const Individual& member : reproduced.world.population.members()) {
    record.candidates.push_back(member.candidate);
    record.evaluations.push_back(testing::EvaluationAt(ValueOf(member.candidate.genome)));
  }
  ASSERT_GE(record.candidates.size(), 2U);
  record.evaluations[0].bottleneck = Bottleneck::kSpills;
  selection.Learn(record);
  const Offspring offspring = reproduction.Select(1);
  int spilling = 0;
  for (std::size_t i = 0; i < offspring.requests.size(); ++i) {
    const bool spills = offspring.parents[i].front() == record.candidates[0].id;
    spilling += spills ? 1 : 0;
    EXPECT_EQ(offspring.requests[i].operators, selection.Weights(spills ? Bottleneck::kSpills : Bottleneck::kNone));
  }
  EXPECT_GT(spilling, 0);
  EXPECT_NE(selection.Weights(Bottleneck::kSpills), selection.Weights());
}

TEST(Reproduction, BreedsEachRequestOnce) {
  Reproduced reproduced;
  reproduced.Begin();
  Offspring offspring = reproduced.reproduction.Select(1);
  reproduced.reproduction.Breed(offspring, {});
  EXPECT_THAT(offspring.children, SizeIs(8));
  EXPECT_THAT(offspring.requests, IsEmpty());
  reproduced.reproduction.Breed(offspring, {});
  EXPECT_THAT(offspring.children, SizeIs(8));
}

TEST(Reproduction, DropsSeenSourcesAndBreedsOthersInTheirPlaceThreeTimes) {
  Reproduced reproduced;
  reproduced.Begin();
  // Every child is the second seed, but for one in the first round and one in the last.
  reproduced.world.breeder.change = [](const BreedRequest& request, BredChild& child) {
    const std::int64_t x = request.index == 2 ? 101 : request.index == 27 ? 102 : 60;
    child.genome = GenomeAt(x);
    child.source = testing::SourceAt(x);
  };
  Offspring offspring = reproduced.reproduction.Select(1);
  reproduced.reproduction.Breed(offspring, {});
  reproduced.reproduction.DropSeen(offspring, reproduced.Stop());
  std::vector<std::size_t> sizes;
  for (const auto& batch : reproduced.world.breeder.batches) sizes.push_back(batch.size());
  EXPECT_THAT(sizes, ElementsAre(8, 7, 7, 7));
  EXPECT_THAT(offspring.fresh, ElementsAre(2, 27));
  int inapplicable = 0;
  for (const BredChild& child : offspring.children) inapplicable += child.genome ? 0 : 1;
  EXPECT_EQ(offspring.duplicates + inapplicable + 2, 8 + 7 + 7 + 7);
}

TEST(Reproduction, DropsASourceThatTheSameGenerationHasTwice) {
  Reproduced reproduced;
  reproduced.Begin();
  reproduced.world.breeder.change = [](const BreedRequest&, BredChild& child) {
    child.genome = GenomeAt(99);
    child.source = testing::SourceAt(99);
  };
  const GenerationRecord record = reproduced.reproduction.Reproduce(1, reproduced.Stop());
  EXPECT_THAT(record.candidates, SizeIs(1));
  EXPECT_GT(record.duplicates, 7);
}

TEST(Reproduction, GivesIdsInOrderAndKeepsThePlaceOfEachChild) {
  Reproduced reproduced;
  reproduced.Begin();
  const GenerationRecord record = reproduced.reproduction.Reproduce(1, reproduced.Stop());
  EXPECT_EQ(record.generation, 1);
  CandidateId id = 3;
  int place = -1;
  for (const Candidate& candidate : record.candidates) {
    EXPECT_EQ(candidate.id, id++);
    EXPECT_GT(candidate.index, place);
    place = candidate.index;
    EXPECT_THAT(candidate.parents, SizeIs(candidate.op == "crossover" ? 2 : 1));
  }
}

TEST(Reproduction, LeavesOutTheParentsOfAChildThatIsMadeFromItsTemplateAlone) {
  Reproduced reproduced;
  reproduced.Begin();
  reproduced.world.breeder.change = [](const BreedRequest&, BredChild& child) { child.parentless = true; };
  const GenerationRecord record = reproduced.reproduction.Reproduce(1, reproduced.Stop());
  ASSERT_THAT(record.candidates, SizeIs(8));
  for (const Candidate& candidate : record.candidates) EXPECT_THAT(candidate.parents, IsEmpty());
}

TEST(Reproduction, MakesNoMoreCandidatesThanTheEvaluationsAllow) {
  Reproduced reproduced;
  reproduced.Begin();
  EXPECT_THAT(reproduced.reproduction.Reproduce(1, reproduced.Stop(5)).candidates, SizeIs(3));
  EXPECT_THAT(reproduced.reproduction.Reproduce(2, reproduced.Stop(5)).candidates, IsEmpty());
}

TEST(Reproduction, BreedsNoOthersAfterAnInterruption) {
  Reproduced reproduced;
  reproduced.Begin();
  reproduced.world.breeder.childless = {1};
  reproduced.world.interrupt.request_stop();
  reproduced.reproduction.Reproduce(1, reproduced.Stop());
  EXPECT_THAT(reproduced.world.breeder.batches, SizeIs(1));
}

TEST(Reproduction, GivesReservedIdsAndSourcesToNoChild) {
  Reproduced whole;
  whole.Begin();
  const GenerationRecord bred = whole.reproduction.Reproduce(1, whole.Stop());
  Reproduced reserved;
  reserved.Begin();
  GenerationRecord record = bred;
  for (const Candidate& candidate : record.candidates) record.evaluations.push_back(EvaluationAt(ValueOf(candidate.genome)));
  reserved.reproduction.Reserve(record);
  const GenerationRecord others = reserved.reproduction.Reproduce(1, reserved.Stop());
  ASSERT_FALSE(others.candidates.empty());
  EXPECT_EQ(others.candidates.front().id, bred.candidates.back().id + 1);
  std::set<std::string> sources;
  for (const Candidate& candidate : bred.candidates) sources.insert(candidate.source);
  for (const Candidate& candidate : others.candidates) EXPECT_FALSE(sources.contains(candidate.source)) << candidate.id;
}

// The evolution goes on as if minimisation had not been there, but for the ids.
TEST(Reproduction, MayBreedTheSourcesOfTrials) {
  Reproduced whole;
  whole.Begin();
  const GenerationRecord bred = whole.reproduction.Reproduce(1, whole.Stop());
  Reproduced reserved;
  reserved.Begin();
  GenerationRecord trials = bred;
  for (Candidate& candidate : trials.candidates) {
    candidate.op = kMinimise;
    trials.evaluations.push_back(EvaluationAt(ValueOf(candidate.genome)));
  }
  reserved.reproduction.Reserve(trials);
  const GenerationRecord again = reserved.reproduction.Reproduce(1, reserved.Stop());
  ASSERT_THAT(again.candidates, SizeIs(bred.candidates.size()));
  EXPECT_EQ(again.candidates.front().id, trials.candidates.back().id + 1);
  for (std::size_t i = 0; i < bred.candidates.size(); ++i) EXPECT_EQ(again.candidates[i].genome, bred.candidates[i].genome) << i;
}

}  // namespace
}  // namespace evo
