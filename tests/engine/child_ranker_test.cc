#include "engine/child_ranker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using testing::EvaluationAt;
using testing::FakeRun;
using testing::GenomeAt;
using ::testing::SizeIs;
using testing::Spelled;
using testing::World;

Genome Block(std::int64_t block, std::vector<std::string> edits = {}) {
  Genome genome{"tiled", "", {{"BLOCK", block}}, {}};
  for (const std::string& op : edits) genome.edits.emplace_back().op = op;
  return genome;
}

Evaluation Took(double score_ns) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.score_ns = score_ns;
  return evaluation;
}

// After 40 kernels, which are the faster the larger the block, and faster with `unroll`.
ChildRanker Learnt() {
  ChildRanker ranker({Block(16)}, {"unroll", "hoist"}, 1);
  for (int i = 0; i < 40; ++i) {
    const bool unrolled = i % 3 == 0;
    const std::int64_t block = 8 << (i % 5);
    ranker.Learn(Block(block, unrolled ? std::vector<std::string>{"unroll"} : std::vector<std::string>{}),
                 Took(1e5 / static_cast<double>(block) * (unrolled ? 0.7 : 1)));
  }
  ranker.Fit();
  return ranker;
}

TEST(ChildRanker, SeesTemplateParametersAndEdits) {
  const ChildRanker ranker({{"naive", "", {{"A", 3}}, {}}, {"tiled", "", {{"BLOCK", 16}}, {}}}, {"unroll", "hoist"}, 1);
  EXPECT_THAT(ranker.FeaturesOf({"naive", "", {{"A", 3}}, {}}), ElementsAre(0, 0.5, 0, 0, 0, 0, 0));
  EXPECT_THAT(ranker.FeaturesOf(Block(15, {"unroll", "unroll", "hoist"})), ElementsAre(1, 0, 1, 0, 0, 0.5, 1))
      << "operators by name";
}

TEST(ChildRanker, SeesHowOftenTwoDividesAParameterWhereThatTells) {
  ChildRanker ranker({Block(16)}, {}, 1);
  for (int i = 0; i < 40; ++i) ranker.Learn(Block(16 * (1 + i % 8)), Took(100 + i));
  EXPECT_EQ(ranker.FeaturesOf(Block(48)).back(), 0) << "not before a fit";
  ranker.Fit();
  EXPECT_EQ(ranker.FeaturesOf(Block(48)).back(), 1);
  EXPECT_EQ(ranker.FeaturesOf(Block(64)).back(), 1.5);
  ChildRanker powers = Learnt();
  EXPECT_EQ(powers.FeaturesOf({"tiled", "", {{"BLOCK", 64}}, {}})[2], 0);
}

TEST(ChildRanker, SeesTheParametersThatEditsBring) {
  ChildRanker ranker({Block(16)}, {"tile"}, 1);
  const auto tiled = [](std::int64_t tile) {
    Genome genome = Block(16, {"tile"});
    genome.edits[0].brings = {{"TILE", {1, 2, 4, 8, 16, 32, 64, 128}, 8}};
    genome.parameters["TILE"] = tile;
    return genome;
  };
  for (int i = 0; i < 40; ++i) {
    const std::int64_t tile = 1 << (i % 8);
    ranker.Learn(i % 3 == 0 ? Block(8 << (i % 5)) : tiled(tile), Took(i % 3 == 0 ? 1e5 : 1e5 / static_cast<double>(tile)));
    if (i == 20) ranker.Fit();
  }
  EXPECT_EQ(ranker.FeaturesOf(tiled(1)).size(), ranker.FeaturesOf(Block(16)).size());
  ranker.Fit();
  EXPECT_EQ(ranker.FeaturesOf(tiled(15))[2], 1) << "BLOCK, then TILE";
  EXPECT_EQ(ranker.FeaturesOf(Block(16))[2], 0);
  const std::vector<Genome> children = {tiled(2), tiled(96), tiled(1), Block(32)};
  EXPECT_THAT(ranker.Choose(children, 1), ElementsAre(1));
}

// What is under way is believed to be as expected: its neighbours are not chosen as well.
TEST(ChildRanker, ChoosesElsewhereWhatIsAwaited) {
  ChildRanker ranker({{"tiled", "", {{"A", 1}, {"B", 1}}, {}}}, {}, 1);
  const auto at = [](std::int64_t a, std::int64_t b) { return Genome{"tiled", "", {{"A", a}, {"B", b}}, {}}; };
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t a = 1 << (i % 4), b = 1 << (i / 4 % 4);
    ranker.Learn(at(a, b), Took(1e4 / static_cast<double>(a + b)));
  }
  ranker.Fit();
  const std::vector<Genome> children = {at(1, 1), at(256, 8), at(2, 1), at(250, 8), at(8, 200)};
  const std::vector<std::size_t> first = ranker.Choose(children, 1);
  ranker.Await(children[first.front()]);
  const std::vector<std::size_t> second = ranker.Choose(children, 1);
  EXPECT_NE(first, second);
  ranker.Learn(children[first.front()], Evaluation{});  // it was cancelled
  EXPECT_EQ(ranker.Choose(children, 1), first);
}

TEST(ChildRanker, ChoosesThePromisingChildren) {
  const ChildRanker ranker = Learnt();
  EXPECT_GT(ranker.trust(), 0.7);
  EXPECT_EQ(ranker.ToBreed(10), ChildRanker::kLeastBred);
  EXPECT_EQ(ranker.ToBreed(100), 1000);
  const std::vector<Genome> children = {Block(8), Block(12), Block(6), Block(256), Block(24), Block(256, {"unroll"})};
  EXPECT_THAT(ranker.Choose(children, 2), ElementsAre(3, 5));
  EXPECT_THAT(ranker.Choose(children, 6), SizeIs(6)) << "all, because there are no more than wanted";
  EXPECT_THAT(ranker.Choose({}, 4), SizeIs(0));
}

TEST(ChildRanker, ChoosesTheFirstBeforeItHasLearnt) {
  ChildRanker ranker({Block(16)}, {}, 1);
  ranker.Fit();
  EXPECT_EQ(ranker.trust(), 0);
  EXPECT_EQ(ranker.ToBreed(10), 10);
  const std::vector<Genome> children = {Block(8), Block(16), Block(128)};
  EXPECT_THAT(ranker.Choose(children, 2), ElementsAre(0, 1));
}

TEST(ChildRanker, IgnoresCancelledEvaluations) {
  ChildRanker ranker = Learnt();
  const double trust = ranker.trust();
  Evaluation cancelled;
  for (int i = 0; i < 30; ++i) ranker.Learn(Block(8 + i), cancelled);
  ranker.Fit();
  EXPECT_EQ(ranker.trust(), trust);
}

RunRecord RunWith(std::uint64_t seed) {
  RunRecord run = FakeRun();
  run.seed = seed;
  return run;
}

RunStatus Evolve(World& world, bool resume = false) {
  ChildRanker ranker(world.seeds, {"step"}, world.run.seed);
  RankedChildren ranked(ranker);
  Evolution evolution(world.settings, world.Parts(world.population, ranked));
  const StopCondition stop(world.run.generations, {}, {});
  return resume ? evolution.Resume(stop) : evolution.Run(stop);
}

TEST(ChildRanker, BreedsManyChildrenAndEvaluatesTheNumberOfTheRun) {
  World world(RunWith(7));
  ASSERT_EQ(Evolve(world), RunStatus::kFinished);
  std::size_t most_bred = 0;
  for (const auto& batch : world.breeder.batches) most_bred = std::max(most_bred, batch.size());
  EXPECT_EQ(most_bred, static_cast<std::size_t>(ChildRanker::kLeastBred));
  for (const GenerationRecord& generation : world.store.generations)
    EXPECT_LE(generation.candidates.size(), static_cast<std::size_t>(world.run.children));
}

TEST(ChildRanker, EvaluatesNoCandidateTwice) {
  World world(RunWith(7));
  Evolve(world);
  std::set<std::int64_t> values;
  std::size_t candidates = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    for (const Candidate& candidate : generation.candidates) values.insert(testing::ValueOf(candidate.genome));
    candidates += generation.candidates.size();
  }
  EXPECT_EQ(values.size(), candidates);
}

TEST(ChildRanker, DecidesTheSameWhenResumedAtEveryBoundary) {
  World whole(RunWith(7));
  ASSERT_EQ(Evolve(whole), RunStatus::kFinished);
  const std::string expected = Spelled(whole.store.generations);
  for (std::size_t kept = 0; kept <= whole.store.generations.size(); ++kept) {
    World& resumed = whole.Again(kept);
    ASSERT_EQ(Evolve(resumed, true), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), expected) << kept;
  }
}

// With the same number of evaluations, runs end nearer to the optimum in the mean over seeds.
TEST(ChildRanker, FindsFasterKernelsThanARunWithoutIt) {
  double with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RunRecord run = RunWith(seed);
    run.generations = 6;
    World ranked(run), plain(run);
    Evolve(ranked);
    plain.Run();
    with += ranked.population.members().front().score_ns;
    without += plain.population.members().front().score_ns;
  }
  EXPECT_LT(with, without);
}

}  // namespace
}  // namespace evo
