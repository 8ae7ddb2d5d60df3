#include "engine/champion_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using ::testing::ElementsAre;
using testing::EvaluationAt;
using testing::FakeRun;
using testing::GenomeAt;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::World;

// A selection alone, with the fakes of a world that is not run.
struct Selected {
  explicit Selected(EvolutionSettings asked = {.run = FakeRun(), .seeds = {GenomeAt(testing::kStart)}})
      : world(std::move(asked)), parts(world.Parts(world.population, world.choice)) {}

  // One generation of kernels, of one template each. Its first is the baseline.
  void Learn(int generation, const std::vector<std::pair<std::int64_t, std::string>>& kernels) {
    GenerationRecord record;
    record.generation = generation;
    for (const auto& [x, name] : kernels) {
      Genome genome = GenomeAt(x);
      genome.template_name = name;
      record.candidates.push_back({.id = next_id++, .generation = generation, .genome = genome, .source = testing::SourceAt(x)});
      record.evaluations.push_back(EvaluationAt(x));
    }
    progress.Learn(record);
    world.population.Survive(record.candidates, record.evaluations);
    selection.Learn(record);
  }
  void Check() { selection.Check(StopCondition(10, {}, world.interrupt.get_token())); }
  std::vector<CandidateId> Checked() const {
    std::vector<CandidateId> ids;
    for (const Candidate& candidate : world.evaluator.checked) ids.push_back(candidate.id);
    return ids;
  }

  World world;
  EvolutionParts parts;
  ProgressTracker progress{10};
  ChampionSelection selection{world.settings, parts, progress};
  CandidateId next_id = 1;
};

ChampionCheck Failed(const Candidate&) {
  ChampionCheck check;
  check.outcome = Outcome::kWrongResult;
  return check;
}

TEST(ChampionSelection, TheChampionChangesOnlyForAFasterCandidate) {
  Selected selected;
  selected.Learn(0, {{100, "x"}, {150, "x"}, {120, "x"}});
  EXPECT_EQ(selected.progress.progress().best, 2);
  EXPECT_EQ(selected.progress.progress().champion_changes, 1);
  selected.Learn(1, {{151, "x"}});
  EXPECT_EQ(selected.progress.progress().best, 2) << "0.4% is within the noise of two processes";
  selected.Learn(2, {{200, "x"}});
  EXPECT_EQ(selected.progress.progress().best, 4 + 1);
  EXPECT_EQ(selected.progress.progress().best_ns, EvaluationAt(200).score_ns);
  EXPECT_EQ(selected.progress.progress().champion_changes, 2);
}

TEST(ChampionSelection, ChecksTheChampionAndStopsIfItPasses) {
  Selected selected;
  selected.Learn(0, {{100, "x"}, {150, "x"}});
  selected.Check();
  EXPECT_THAT(selected.Checked(), ElementsAre(2));
  ASSERT_THAT(selected.world.store.champions, SizeIs(1));
  EXPECT_EQ(selected.world.store.champions[0].first, 2);
  EXPECT_THAT(selected.world.observer.events, ElementsAre("champion 2"));
}

TEST(ChampionSelection, TriesTheOtherSurvivorsByTheirTimesThenTheBestOfOtherTemplates) {
  RunRecord run = FakeRun();
  run.population = 3;
  Selected selected({.run = run, .seeds = {GenomeAt(1)}});
  selected.world.evaluator.check = Failed;
  selected.Learn(0, {{100, "x"}, {200, "x"}, {150, "x"}, {10, "slow"}, {20, "slow"}, {50, "slower"}});
  selected.Check();
  EXPECT_THAT(selected.Checked(), ElementsAre(2, 3, 1, 6, 5));
  EXPECT_THAT(selected.world.store.champions, SizeIs(5));
}

TEST(ChampionSelection, ChecksNothingBeforeGenerationZeroOrIfTheRunLeavesItOut) {
  Selected nothing;
  nothing.Check();
  EXPECT_THAT(nothing.Checked(), IsEmpty());
  Selected unchecked({.run = FakeRun(), .seeds = {GenomeAt(1)}, .check_champion = false});
  unchecked.Learn(0, {{100, "x"}});
  unchecked.Check();
  EXPECT_THAT(unchecked.Checked(), IsEmpty());
}

TEST(ChampionSelection, CountsTheGenerationsOfTrials) {
  Selected selected;
  selected.Learn(0, {{100, "x"}});
  GenerationRecord trial;
  trial.generation = 1;
  trial.candidates.push_back({.id = 9, .op = kMinimise});
  trial.evaluations.push_back(EvaluationAt(300));
  selected.selection.Learn(trial);
  EXPECT_EQ(selected.selection.trial_generations(), 1);
  selected.Check();
  EXPECT_THAT(selected.Checked(), ElementsAre(1)) << "a trial is no champion";
}

TEST(ChampionCheck, TriesAnotherTemplateAfterThreeToolFindingsInOne) {
  Genome other = testing::GenomeAt(49);
  other.template_name = "other";
  World world({.run = FakeRun(), .seeds = {testing::GenomeAt(50), other}, .baseline_apart = true});
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

TEST(ChampionCheck, TriesTheNextCandidateAfterAFailure) {
  World world(FakeRun());
  world.evaluator.check = [&](const Candidate&) {
    ChampionCheck check;
    check.outcome = world.evaluator.checked.size() <= 2 ? Outcome::kWrongResult : Outcome::kOk;
    check.speedup = 2;
    return check;
  };
  EXPECT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_THAT(world.store.champions, SizeIs(3)) << "failures are recorded too";
  EXPECT_EQ(world.store.champions[0].second.outcome, Outcome::kWrongResult);
  EXPECT_EQ(world.store.champions[1].second.outcome, Outcome::kWrongResult);
  EXPECT_EQ(world.store.champions[2].second.outcome, Outcome::kOk);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(world.store.champions[i].first, world.population.members()[i].candidate.id) << "fastest first";
    EXPECT_FALSE(world.evaluator.checked[i].source.empty());
  }
  EXPECT_EQ(world.evolution.progress().best, world.store.champions[2].first);
}

TEST(ChampionCheck, RecordsNothingIfInterrupted) {
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
