// Candidates whose class the hardware's counters say while the search goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/digest.h"
#include "engine/replay_evaluator.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::FakeRun;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using testing::Spelled;
using testing::World;

Evaluation LatencyBound(const Candidate& candidate) {
  Evaluation evaluation = testing::EvaluationAt(testing::ValueOf(candidate.genome));
  if (evaluation.outcome == Outcome::kOk) evaluation.bottleneck = Bottleneck::kLatency;
  return evaluation;
}

CountedElite Barrier(CandidateId id) {
  CountedElite one;
  one.candidate = id;
  one.bottleneck = Bottleneck::kBarrier;
  one.evidence = "warps wait 50% for barriers (counted)";
  return one;
}

RunRecord RunOfTwo() {
  RunRecord run = FakeRun();
  run.operators = {{"parameter_step", 1.0}, {"step", 1.0}};
  return run;
}

// A run whose operators depend on classes. Every third generation the first of the elites has been counted.
struct CountedRun {
  explicit CountedRun(bool by_class = true, std::vector<GenerationRecord> generations = {})
      : world(RunOfTwo()),
        selection(world.run.operators, {},
                  by_class ? std::optional(BottleneckKnowledge{{{Bottleneck::kBarrier, {{"step", 3}}}}, {}}) : std::nullopt),
        population(static_cast<std::size_t>(world.run.population)),
        evolution(world.settings, world.Parts(population, world.choice, &selection)) {
    world.store.generations = std::move(generations);
    world.evaluator.evaluate = LatencyBound;
    world.evaluator.count = [this](const std::vector<Candidate>& elites, int generation) {
      asked.push_back(elites);
      std::vector<CountedElite> counted;
      if (generation % 3 == 0 && !elites.empty()) counted.push_back(Barrier(elites.front().id));
      return counted;
    };
  }
  RunStatus Run() { return evolution.Run(StopCondition(world.run.generations, {}, {})); }
  RunStatus Resume() { return evolution.Resume(StopCondition(world.run.generations, {}, {})); }

  // By generation, what was counted in it.
  std::map<int, std::vector<CandidateId>> Counted() const {
    std::map<int, std::vector<CandidateId>> counted;
    for (const GenerationRecord& generation : world.store.generations) {
      for (const CountedElite& one : generation.counted) counted[generation.generation].push_back(one.candidate);
    }
    return counted;
  }
  // The weights of the operators that each child was to be bred with, by generation and place.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::pair<std::string, double>>> Weights() const {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::pair<std::string, double>>> weights;
    for (const auto& batch : world.breeder.batches) {
      for (const BreedRequest& request : batch) weights[{request.generation, request.index}] = request.operators;
    }
    return weights;
  }

  World world;
  OperatorSelection selection;
  ElitistPopulation population;
  Evolution evolution;
  std::vector<std::vector<Candidate>> asked;
};

TEST(EliteCount, AsksForTheFastestUntilTheyAreCounted) {
  CountedRun run;
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  ASSERT_GT(run.asked.size(), 3U);
  std::set<CandidateId> counted;
  std::size_t asked = 0;
  for (const auto& [generation, ids] : run.Counted()) counted.insert(ids.begin(), ids.end());
  EXPECT_THAT(counted, SizeIs(4)) << "one each time";
  for (const std::vector<Candidate>& elites : run.asked) {
    EXPECT_THAT(elites, SizeIs(Le(static_cast<std::size_t>(run.world.run.population))));
    asked += elites.size();
    for (const Candidate& elite : elites) EXPECT_FALSE(elite.source.empty());
  }
  EXPECT_GT(asked, counted.size());
  EXPECT_EQ(run.selection.BottleneckOf(*counted.begin()), Bottleneck::kBarrier);
}

// Some cannot be counted, and are asked for in vain.
TEST(EliteCount, TheFastestKeepNobodyElseFromIt) {
  CountedRun run;
  run.world.evaluator.count = [&](const std::vector<Candidate>& elites, int) {
    std::vector<CountedElite> counted;
    if (elites.size() > 3) counted.push_back(Barrier(elites[3].id));
    return counted;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  EXPECT_FALSE(run.Counted().empty());
}

TEST(EliteCount, IsNotAskedForWhereClassesMakeNoDifference) {
  CountedRun run(false);
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  for (const std::vector<Candidate>& elites : run.asked) EXPECT_THAT(elites, IsEmpty());
  EXPECT_THAT(run.Counted(), IsEmpty());
}

TEST(EliteCount, LeavesOutClassesThatCountersDoNotShow) {
  CountedRun run;
  run.world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = LatencyBound(candidate);
    if (evaluation.outcome == Outcome::kOk) evaluation.bottleneck = Bottleneck::kLaunch;
    return evaluation;
  };
  ASSERT_EQ(run.Run(), RunStatus::kFinished);
  for (const std::vector<Candidate>& elites : run.asked) EXPECT_THAT(elites, IsEmpty());
}

TEST(EliteCount, OperatorsFollowTheCountedClass) {
  CountedRun counted;
  CountedRun guessed;
  guessed.world.evaluator.count = nullptr;
  ASSERT_EQ(counted.Run(), RunStatus::kFinished);
  ASSERT_EQ(guessed.Run(), RunStatus::kFinished);
  EXPECT_NE(counted.Weights(), guessed.Weights());
}

TEST(EliteCount, AResumedRunDecidesByWhatWasStored) {
  CountedRun whole;
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  const auto weights = whole.Weights();
  for (std::size_t kept = 1; kept <= whole.world.store.generations.size(); ++kept) {
    SCOPED_TRACE(kept);
    const auto& all = whole.world.store.generations;
    CountedRun resumed(true, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)});
    ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
    EXPECT_EQ(Spelled(resumed.world.store.generations), Spelled(all));
    EXPECT_EQ(resumed.Counted(), whole.Counted());
    for (const auto& [child, drawn] : resumed.Weights()) {
      // What comes after the last generation is bred again, and never evaluated.
      if (child.first > static_cast<std::uint64_t>(whole.world.run.generations)) continue;
      EXPECT_EQ(drawn, weights.at(child)) << child.first << " " << child.second;
    }
    for (const std::vector<Candidate>& elites : resumed.asked) {
      for (const Candidate& elite : elites) EXPECT_FALSE(elite.source.empty()) << "what is read back is rendered again";
    }
  }
}

// A replay of the run has the same counts and draws by the same weights.
void ExpectSameInReplay(const CountedRun& whole) {
  RecordedEvaluations recorded;
  std::map<CandidateId, std::string> digests;
  for (const GenerationRecord& generation : whole.world.store.generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      digests[generation.candidates[i].id] = generation.evaluations[i].source_digest;
      recorded.Add(generation.evaluations[i]);
    }
    for (const CountedElite& one : generation.counted) recorded.AddCounted(digests.at(one.candidate), generation.generation, one);
  }
  CountedRun replayed;
  ReplayEvaluator evaluator(recorded);
  EvolutionParts parts = replayed.world.Parts(replayed.population, replayed.world.choice, &replayed.selection);
  Evolution again(replayed.world.settings,
                  {parts.breeder, evaluator, parts.store, parts.observer, parts.population, parts.choice, parts.selection});
  ASSERT_EQ(again.Run(StopCondition(replayed.world.run.generations, {}, {})), RunStatus::kFinished);
  EXPECT_EQ(replayed.Counted(), whole.Counted());
  EXPECT_EQ(replayed.Weights(), whole.Weights());
}

TEST(EliteCount, AReplayHasTheCountsWhenTheRunHadThem) {
  CountedRun whole;
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  ExpectSameInReplay(whole);
}

// Counting takes time, in which a slow member may leave the population.
TEST(EliteCount, AReplayHasCountsThatCameLate) {
  CountedRun whole;
  std::vector<CandidateId> under_way;
  int late = 0;
  whole.world.evaluator.count = [&](const std::vector<Candidate>& elites, int) {
    std::vector<CountedElite> counted;
    for (const CandidateId id : under_way) {
      counted.push_back(Barrier(id));
      late += std::none_of(elites.begin(), elites.end(), [&](const Candidate& elite) { return elite.id == id; });
    }
    under_way.clear();
    if (!elites.empty()) under_way.push_back(elites.back().id);
    return counted;
  };
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  ASSERT_GT(late, 0);
  ExpectSameInReplay(whole);
}

TEST(RecordedEvaluations, KnowWhenACandidateWasCounted) {
  RecordedEvaluations recorded;
  recorded.AddCounted("a", 5, Barrier(1));
  CountedElite earlier = Barrier(2);
  earlier.bottleneck = Bottleneck::kDram;
  recorded.AddCounted("a", 3, earlier);
  recorded.AddCounted("a", 9, Barrier(3));
  EXPECT_EQ(recorded.FindCounted("a", 2), nullptr);
  ASSERT_NE(recorded.FindCounted("a", 3), nullptr);
  EXPECT_EQ(recorded.FindCounted("a", 3)->bottleneck, Bottleneck::kDram);
  EXPECT_EQ(recorded.FindCounted("b", 9), nullptr);
}

}  // namespace
}  // namespace evo
