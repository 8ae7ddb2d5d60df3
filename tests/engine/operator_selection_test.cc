#include "engine/operator_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/rng.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Spelled;
using testing::World;

constexpr int kOperators = 20;

std::string Name(int i) { return "op" + std::to_string(100 + i); }

std::map<std::string, double> Defaults() {
  std::map<std::string, double> defaults;
  for (int i = 0; i < kOperators; ++i) defaults[Name(i)] = i == 0 ? 3 : 1;
  return defaults;
}

// The share of the draws by name.
std::map<std::string, double> SharesOf(const OperatorSelection& selection) {
  double sum = 0;
  std::map<std::string, double> shares;
  for (const auto& [name, weight] : selection.Weights()) sum += shares[name] = weight;
  for (auto& [name, share] : shares) share /= sum;
  return shares;
}

struct Bred {
  std::string op;
  Outcome outcome = Outcome::kOk;
  double score_ns = 1000;
  std::string program = "of its own";
};

// Children of candidate 1, whose time is 1000 ns.
GenerationRecord MakeGeneration(int number, const std::vector<Bred>& bred) {
  GenerationRecord record;
  record.generation = number;
  for (const Bred& one : bred) {
    Candidate candidate;
    candidate.id = 1000 * number + static_cast<CandidateId>(record.candidates.size()) + 1;
    candidate.op = one.op;
    if (number > 0) candidate.parents = {1};
    Evaluation evaluation;
    evaluation.outcome = one.outcome;
    if (one.outcome == Outcome::kOk) evaluation.score_ns = one.score_ns;
    evaluation.program_digest = one.program;
    record.candidates.push_back(candidate);
    record.evaluations.push_back(evaluation);
  }
  return record;
}

GenerationRecord First() { return MakeGeneration(0, {{"default", Outcome::kOk, 1000, "the parent's"}}); }

// One child of every operator; the special operator's is `result`.
std::vector<Bred> Round(const std::string& special, const Bred& result) {
  std::vector<Bred> bred;
  for (int i = 0; i < kOperators; ++i) {
    bred.push_back(Name(i) == special ? result : Bred{});
    bred.back().op = Name(i);
  }
  return bred;
}

std::map<std::string, double> After(const std::string& special, const Bred& result, int generations = 10) {
  OperatorSelection selection(Defaults());
  selection.Learn(First());
  for (int g = 1; g <= generations; ++g) selection.Learn(MakeGeneration(g, Round(special, result)));
  return SharesOf(selection);
}

TEST(OperatorSelection, BeginsWithTheDefaults) {
  const auto shares = SharesOf(OperatorSelection(Defaults()));
  EXPECT_THAT(shares, SizeIs(kOperators));
  EXPECT_GT(shares.at(Name(0)), 2 * shares.at(Name(1)));
  EXPECT_DOUBLE_EQ(shares.at(Name(1)), shares.at(Name(kOperators - 1)));
}

TEST(OperatorSelection, LeavesOutOperatorsWithoutWeight) {
  EXPECT_THAT(OperatorSelection({{"a", 1}, {"b", 0}}).Weights(), SizeIs(1));
  EXPECT_THAT(OperatorSelection({{"b", 0}}).Weights(), IsEmpty());
}

TEST(OperatorSelection, DrawsAnOperatorThatPaysMoreOften) {
  const auto shares = After(Name(5), {"", Outcome::kOk, 800, "faster"});
  for (int i = 1; i < kOperators; ++i) {  // the first has a greater weight to begin with
    if (i == 5) continue;
    EXPECT_GT(shares.at(Name(5)), 2 * shares.at(Name(i))) << i;
  }
}

TEST(OperatorSelection, DrawsAnOperatorThatBreaksKernelsOrChangesNothingLessOften) {
  const auto broken = After(Name(5), {"", Outcome::kCompileError, 0, ""});
  EXPECT_LT(broken.at(Name(5)), 0.7 * broken.at(Name(6)));
  const auto neutral = After(Name(5), {"", Outcome::kOk, 990, "the parent's"});
  EXPECT_DOUBLE_EQ(neutral.at(Name(5)), broken.at(Name(5)));
}

TEST(OperatorSelection, KeepsFloorAndCap) {
  const auto shares = After(Name(5), {"", Outcome::kOk, 1, "a miracle"}, 40);
  for (const auto& [name, share] : shares) {
    EXPECT_LE(share, OperatorSelection::kMostShare + 1e-9) << name;
    EXPECT_GE(share, OperatorSelection::kLeastShare / kOperators - 1e-9) << name;
  }
  EXPECT_NEAR(shares.at(Name(5)), OperatorSelection::kMostShare, 1e-9);
}

TEST(OperatorSelection, FewOperatorsCannotAllBeBelowTheCap) {
  OperatorSelection selection({{"a", 100}, {"b", 1}, {"c", 1}});
  const auto shares = SharesOf(selection);
  EXPECT_NEAR(shares.at("a"), 2.0 / 3, 1e-9);
  EXPECT_NEAR(shares.at("b"), 1.0 / 6, 1e-9);
  EXPECT_DOUBLE_EQ(OperatorSelection({{"a", 5}}).Weights().front().second, 1.0);
}

// Half of the operators never apply, and one of the others always pays. With its share of the draws it would make far more
// children than the cap allows.
TEST(OperatorSelection, ThrottlesAnOperatorThatMakesTooManyChildren) {
  OperatorSelection selection(Defaults());
  selection.Learn(First());
  Rng rng(3);
  std::map<std::string, int> children;
  constexpr int kGenerations = 60;
  constexpr int kChildren = 32;
  for (int g = 1; g <= kGenerations; ++g) {
    std::vector<double> weights;
    for (const auto& [name, weight] : selection.Weights()) weights.push_back(weights.size() < kOperators / 2 ? weight : 0);
    std::vector<Bred> bred;
    for (int i = 0; i < kChildren; ++i) {
      const std::string op = Name(static_cast<int>(rng.Weighted(weights)));
      ++children[op];
      bred.push_back({op, Outcome::kOk, op == Name(5) ? 800.0 : 1000.0, "p"});
    }
    selection.Learn(MakeGeneration(g, bred));
  }
  for (const auto& [op, count] : children) EXPECT_LT(count, 0.15 * kGenerations * kChildren) << op;
  EXPECT_GT(children.at(Name(5)), 0.11 * kGenerations * kChildren);
}

TEST(OperatorSelection, EarlierRunsCountButCanBeRefuted) {
  OperatorReward reward{5000, 4000, 500};
  const OperatorSelection warm(Defaults(), {{Name(5), reward}, {"gone", reward}});
  const auto shares = SharesOf(warm);
  EXPECT_GT(shares.at(Name(5)), 1.5 * shares.at(Name(6)));
  OperatorSelection refuted = warm;
  refuted.Learn(First());
  for (int g = 1; g <= 40; ++g) refuted.Learn(MakeGeneration(g, Round(Name(5), {"", Outcome::kWrongResult, 0, "p"})));
  EXPECT_LT(SharesOf(refuted).at(Name(5)), 1.1 * SharesOf(refuted).at(Name(6)));
}

TEST(OperatorSelection, IgnoresChildrenThatItCannotJudge) {
  OperatorSelection selection(Defaults());
  const auto before = selection.Weights();
  GenerationRecord strange = MakeGeneration(1, {{"unknown"}, {Name(1)}, {Name(2), Outcome::kCancelled}});
  selection.Learn(strange);  // its parent was never seen
  EXPECT_EQ(selection.Weights(), before);
}

BottleneckKnowledge Known() {
  BottleneckKnowledge known;
  known.relief[Bottleneck::kDram] = {{Name(5), 3}, {Name(6), 2}, {"gone", 3}};
  return known;
}

std::map<std::string, double> SharesOf(const OperatorSelection& selection, Bottleneck bottleneck) {
  double sum = 0;
  std::map<std::string, double> shares;
  for (const auto& [name, weight] : selection.Weights(bottleneck)) sum += shares[name] = weight;
  for (auto& [name, share] : shares) share /= sum;
  return shares;
}

GenerationRecord FirstWith(Bottleneck bottleneck) {
  GenerationRecord record = First();
  record.evaluations[0].bottleneck = bottleneck;
  return record;
}

TEST(OperatorSelection, DrawsWhatRelievesTheParentsBottleneckMoreOften) {
  const OperatorSelection selection(Defaults(), {}, Known());
  const auto shares = SharesOf(selection, Bottleneck::kDram);
  EXPECT_GT(shares.at(Name(5)), 2 * shares.at(Name(1)));
  EXPECT_GT(shares.at(Name(6)), 1.5 * shares.at(Name(1)));
  EXPECT_LT(shares.at(Name(6)), shares.at(Name(5)));
  const auto plain = OperatorSelection(Defaults()).Weights();
  EXPECT_EQ(selection.Weights(), plain) << "without a bottleneck as ever";
  EXPECT_EQ(selection.Weights(Bottleneck::kSpills), plain) << "nothing is known of this one";
}

TEST(OperatorSelection, WhatWasWonOverrulesWhatWasExpectedOfABottleneck) {
  OperatorSelection selection(Defaults(), {}, Known());
  selection.Learn(FirstWith(Bottleneck::kDram));
  for (int g = 1; g <= 10; ++g) selection.Learn(MakeGeneration(g, Round(Name(7), {"", Outcome::kOk, 700, "faster"})));
  const auto shares = SharesOf(selection, Bottleneck::kDram);
  EXPECT_GT(shares.at(Name(7)), 1.5 * shares.at(Name(5)));
  // On other parents only what holds of all of them has changed.
  const auto others = SharesOf(selection, Bottleneck::kLatency);
  EXPECT_EQ(others, SharesOf(selection));
  EXPECT_EQ(selection.BottleneckOf(1), Bottleneck::kDram);
  EXPECT_EQ(selection.BottleneckOf(424242), Bottleneck::kNone);
}

TEST(OperatorSelection, EarlierRunsCountForABottleneckButCanBeRefuted) {
  BottleneckKnowledge known = Known();
  known.earlier = {{"dram", {{Name(8), {5000, 4000, 500}}, {"gone", {1, 1, 1}}}}, {"of a newer version", {{Name(8), {9, 9, 9}}}}};
  OperatorSelection selection(Defaults(), {}, known);
  EXPECT_GT(SharesOf(selection, Bottleneck::kDram).at(Name(8)), 1.5 * SharesOf(selection, Bottleneck::kDram).at(Name(9)));
  EXPECT_EQ(SharesOf(selection, Bottleneck::kL2), SharesOf(selection));
  selection.Learn(FirstWith(Bottleneck::kDram));
  for (int g = 1; g <= 40; ++g) selection.Learn(MakeGeneration(g, Round(Name(8), {"", Outcome::kWrongResult, 0, "p"})));
  const auto refuted = SharesOf(selection, Bottleneck::kDram);
  EXPECT_LT(refuted.at(Name(8)), 1.1 * refuted.at(Name(9)));
}

TEST(OperatorSelection, WithoutKnowledgeOfBottlenecksTheyMakeNoDifference) {
  OperatorSelection with(Defaults());
  OperatorSelection without(Defaults());
  with.Learn(FirstWith(Bottleneck::kDram));
  without.Learn(First());
  for (int g = 1; g <= 5; ++g) {
    const GenerationRecord record = MakeGeneration(g, Round(Name(5), {"", Outcome::kOk, 800, "faster"}));
    with.Learn(record);
    without.Learn(record);
  }
  EXPECT_FALSE(with.by_bottleneck());
  EXPECT_EQ(with.BottleneckOf(1), Bottleneck::kNone);
  EXPECT_EQ(with.Weights(Bottleneck::kDram), without.Weights());
}

TEST(OperatorSelection, AMuchSlowerChildGetsNoRewardForBeingNewWhereStructuresCount) {
  BottleneckKnowledge structured;
  structured.restructuring = {Name(19)};
  OperatorSelection with(Defaults(), {}, structured);
  OperatorSelection without(Defaults(), {}, BottleneckKnowledge());
  for (OperatorSelection* selection : {&with, &without}) {
    selection->Learn(FirstWith(Bottleneck::kDram));
    for (int g = 1; g <= 10; ++g) {
      std::vector<Bred> bred;
      for (int i = 0; i < 4; ++i) bred.push_back({Name(3), Outcome::kOk, 1500, "slower" + std::to_string(4 * g + i)});
      for (int i = 0; i < 4; ++i) bred.push_back({Name(4), Outcome::kOk, 1010, "alike" + std::to_string(4 * g + i)});
      selection->Learn(MakeGeneration(g, bred));
    }
  }
  EXPECT_LT(SharesOf(with, Bottleneck::kDram).at(Name(3)), 0.9 * SharesOf(with, Bottleneck::kDram).at(Name(4)));
  EXPECT_DOUBLE_EQ(SharesOf(without, Bottleneck::kDram).at(Name(3)), SharesOf(without, Bottleneck::kDram).at(Name(4)));
  EXPECT_TRUE(with.by_structure());
  EXPECT_TRUE(with.Restructures(Name(19)));
  EXPECT_FALSE(with.Restructures(Name(3)));
  EXPECT_FALSE(without.by_structure());
}

TEST(OperatorReward, CountsGainsOfFreshChildrenOnly) {
  OperatorReward reward;
  AddChild(reward, false, 1000, 500);
  AddChild(reward, true, 1000, 500);
  AddChild(reward, true, 1000, 2000);
  AddChild(reward, true, 1000, 1);
  AddChild(reward, false, 1000, kNoValue);
  EXPECT_EQ(reward.tries, 5);
  EXPECT_EQ(reward.fresh, 3);
  EXPECT_DOUBLE_EQ(reward.log_gain, std::log(2.0) + 1);
}

RunStatus Perform(World& world, OperatorSelection& selection, bool resume) {
  Evolution evolution(world.settings, world.Parts(world.population, world.choice, &selection));
  const StopCondition stop(world.run.generations, {}, world.interrupt.get_token());
  return resume ? evolution.Resume(stop) : evolution.Run(stop);
}

TEST(OperatorSelection, AResumedRunDrawsTheSameOperators) {
  RunRecord run = FakeRun();
  run.operators = {{"crossover", 1}, {"step", 1}, {"other", 1}};
  World whole(run);
  OperatorSelection selection(run.operators);
  ASSERT_EQ(Perform(whole, selection, false), RunStatus::kFinished);
  std::map<std::uint64_t, std::vector<std::pair<std::string, double>>> drawn;
  for (const auto& batch : whole.breeder.batches) drawn[batch.front().generation] = batch.front().operators;
  EXPECT_NE(drawn.at(1), drawn.at(5)) << "the rewards have changed the weights";
  EXPECT_EQ(drawn.at(1), drawn.at(2)) << "generation 2 is bred before 1 is known";
  const std::size_t count = whole.store.generations.size();
  for (std::size_t kept = 1; kept < count; ++kept) {
    SCOPED_TRACE(kept);
    World& resumed = whole.Again(kept);
    OperatorSelection again(run.operators);
    ASSERT_EQ(Perform(resumed, again, true), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.store.generations), Spelled(whole.store.generations));
    for (const auto& batch : resumed.breeder.batches) EXPECT_EQ(batch.front().operators, drawn.at(batch.front().generation));
  }
}

TEST(OperatorSelection, AResumedRunDrawsTheSameOperatorsForEachBottleneck) {
  RunRecord run = FakeRun();
  run.operators = {{"crossover", 1}, {"step", 1}, {"other", 1}, {"fourth", 1}};
  const BottleneckKnowledge known{{{Bottleneck::kTail, {{"other", 3}}}}, {{"latency", {{"step", {4, 4, 2}}}}}};
  World whole(run);
  whole.evaluator.evaluate = [](const Candidate& c) {
    Evaluation evaluation = testing::EvaluationAt(testing::ValueOf(c.genome));
    evaluation.bottleneck = testing::ValueOf(c.genome) % 2 == 0 ? Bottleneck::kTail : Bottleneck::kLatency;
    return evaluation;
  };
  OperatorSelection selection(run.operators, {}, known);
  ASSERT_EQ(Perform(whole, selection, false), RunStatus::kFinished);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::pair<std::string, double>>> drawn;
  std::set<std::vector<std::pair<std::string, double>>> of_one_generation;
  for (const auto& batch : whole.breeder.batches) {
    for (const BreedRequest& request : batch) drawn[{request.generation, request.index}] = request.operators;
  }
  for (const auto& [place, operators] : drawn) {
    if (place.first == 5) of_one_generation.insert(operators);
  }
  EXPECT_GT(of_one_generation.size(), 1U) << "parents with other bottlenecks have other weights";
  World& resumed = whole.Again(3);
  OperatorSelection again(run.operators, {}, known);
  ASSERT_EQ(Perform(resumed, again, true), RunStatus::kFinished);
  EXPECT_EQ(Spelled(resumed.store.generations), Spelled(whole.store.generations));
  for (const auto& batch : resumed.breeder.batches) {
    for (const BreedRequest& request : batch) EXPECT_EQ(request.operators, drawn.at({request.generation, request.index}));
  }
}

}  // namespace
}  // namespace evo
