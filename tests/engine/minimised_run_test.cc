// Runs that cut their champion to the edits that it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>

#include "core/digest.h"
#include "engine/minimisation.h"
#include "engine/trial_runner.h"
#include "tests/engine/edited_kernels.h"
#include "tests/engine/edited_world.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::EditedAt;
using testing::EditedWorld;
using ::testing::ElementsAre;
using testing::ExpectMinimised;
using testing::FakeRun;
using testing::GenomeAt;
using ::testing::IsEmpty;
using testing::Names;
using testing::Numbered;
using testing::NumberedAreExact;
using ::testing::SizeIs;
using testing::Timed;
using testing::World;

TEST(MinimisedRun, ChecksAndRecordsTheMinimisedChampion) {
  EditedWorld world;
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ExpectMinimised(world);
  ASSERT_THAT(world.store.champions, SizeIs(2)) << "the champion and its minimised variant";
  EXPECT_EQ(world.store.champions[0].first, 2);
  EXPECT_EQ(world.store.champions[1].first, world.store.minimised[0].candidate);
  EXPECT_LE(world.Trials().size(), static_cast<std::size_t>(kMinimisationBudget));
  CandidateId last = 0;
  int number = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    EXPECT_EQ(generation.generation, number++);
    for (const Candidate& candidate : generation.candidates) {
      EXPECT_GT(candidate.id, last);
      EXPECT_EQ(candidate.generation, generation.generation);
      last = candidate.id;
    }
  }
}

TEST(MinimisedRun, ChecksTheChampionBrieflyAndWhatIsLeftOfItInFull) {
  EditedWorld unlimited;
  ASSERT_EQ(unlimited.Run(), RunStatus::kFinished);
  ASSERT_THAT(unlimited.evaluator.efforts, SizeIs(2));
  EXPECT_LE(unlimited.evaluator.efforts[0].search_s, 2);
  EXPECT_LE(unlimited.evaluator.efforts[0].sizes_s, 3);
  EXPECT_TRUE(std::isnan(unlimited.evaluator.efforts[1].search_s)) << "as long as the device's policy says";
  EXPECT_TRUE(std::isnan(unlimited.evaluator.efforts[1].sizes_s));

  EditedWorld limited;
  ASSERT_EQ(limited.Run(std::chrono::seconds(90)), RunStatus::kFinished);
  ASSERT_THAT(limited.evaluator.efforts, SizeIs(2));
  EXPECT_EQ(limited.evaluator.efforts[1].search_s, 30);
  EXPECT_EQ(limited.evaluator.efforts[1].sizes_s, 15);
  EditedWorld hurried;
  ASSERT_EQ(hurried.Run(std::chrono::seconds(5)), RunStatus::kFinished);
  EXPECT_EQ(hurried.evaluator.efforts.back().search_s, 10) << "a short search does not make its champion less trustworthy";

  EditedWorld whole(3, false);
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  ASSERT_THAT(whole.evaluator.efforts, SizeIs(1)) << "without minimisation there is one check, in full";
  EXPECT_TRUE(std::isnan(whole.evaluator.efforts[0].search_s));
}

TEST(MinimisedRun, ChecksAChampionThatNeedsAllItsEditsInFull) {
  World world(EvolutionSettings{.run = EditedWorld::RunOf(0),
                                .seeds = {GenomeAt(testing::kStart), EditedAt(22, {"e3"})},
                                .minimise_champion = true,
                                .promises = NumberedAreExact()});
  world.evaluator.evaluate = EditedWorld::Measure;
  // The whole check finds what the short one did not.
  world.evaluator.check = [&](const Candidate& candidate) {
    ChampionCheck check;
    const bool whole = std::isnan(world.evaluator.efforts.back().search_s);
    check.outcome = candidate.id == 2 && whole ? Outcome::kWrongResult : Outcome::kOk;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_THAT(world.store.champions, SizeIs(3));
  EXPECT_EQ(world.store.champions[0].first, 2);
  EXPECT_EQ(world.store.champions[1].first, 2);
  EXPECT_EQ(world.store.champions[1].second.outcome, Outcome::kWrongResult);
  EXPECT_EQ(world.evolution.progress().best, 1) << "the next candidate";
}

TEST(MinimisedRun, TriesTheNextCandidateIfTheChampionIsFoundWrong) {
  EditedWorld world;
  world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = EditedWorld::Measure(candidate);
    if (candidate.measurement == 0 || candidate.genome.edits.size() < 12) return evaluation;
    evaluation.outcome = Outcome::kNondeterministic;
    evaluation.message = "right at first";
    return evaluation;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_GE(world.store.champions.size(), 3U);
  EXPECT_EQ(world.store.champions[0].first, 2);
  EXPECT_EQ(world.store.champions[1].first, 2);
  EXPECT_EQ(world.store.champions[1].second.outcome, Outcome::kNondeterministic);
  EXPECT_EQ(world.store.champions[1].second.message, "measured again: right at first");
  EXPECT_NE(world.store.champions[2].first, 2);
  EXPECT_NE(world.evolution.progress().best, 2);
}

TEST(MinimisedRun, DoesNotTakeTheBaselineForAFasterKernel) {
  EvolutionSettings settings{.run = EditedWorld::RunOf(0),
                             .seeds = {GenomeAt(testing::kStart), EditedAt(testing::kStart, Numbered(1), {})},
                             .check_champion = true,
                             .minimise_champion = true,
                             .promises = NumberedAreExact()};
  World world(settings);
  // The edit seems to be worth 20% once.
  world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = Timed(candidate.id == 2 && candidate.measurement == 0 ? 6'400.0 : 8'000.0);
    evaluation.source_digest = Digest(candidate.source);
    return evaluation;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_GE(world.store.champions.size(), 2U);
  EXPECT_EQ(world.store.champions[1].first, 2);
  EXPECT_EQ(world.store.champions[1].second.outcome, Outcome::kNoisy);
  EXPECT_EQ(world.evolution.progress().best, 1) << "the baseline";
}

// Two champion candidates are found wrong one after the other, each by a trial.
TEST(MinimisedRun, GivesTheTrialsOfTheNextCandidateTheirOwnIdsAndGenerations) {
  std::vector<Genome> seeds = EditedWorld::Seeds();
  seeds.push_back(EditedAt(33, Numbered(8)));
  World world(
      EvolutionSettings{.run = EditedWorld::RunOf(3), .seeds = seeds, .minimise_champion = true, .promises = NumberedAreExact()});
  world.evaluator.evaluate = [](const Candidate& candidate) {
    Evaluation evaluation = EditedWorld::Measure(candidate);
    evaluation.program_digest = evaluation.source_digest;
    if (candidate.measurement == 0 || candidate.genome.edits.size() < 8) return evaluation;
    evaluation.outcome = Outcome::kNondeterministic;
    return evaluation;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  std::set<CandidateId> champions;
  CandidateId last = 0;
  int number = 0;
  for (const GenerationRecord& generation : world.store.generations) {
    EXPECT_EQ(generation.generation, number++);
    for (const Candidate& candidate : generation.candidates) {
      EXPECT_GT(candidate.id, last);
      last = candidate.id;
      if (candidate.op == kMinimise) champions.insert(candidate.parents.at(0));
    }
  }
  EXPECT_THAT(champions, ElementsAre(2, 3)) << "both had trials";
}

TEST(MinimisedRun, NeedsTheSettingAndACheckedChampionWithEdits) {
  EditedWorld unchecked(3, true, false);
  ASSERT_EQ(unchecked.Run(), RunStatus::kFinished);
  EXPECT_THAT(unchecked.Trials(), IsEmpty());
  EditedWorld plain(3, false);
  ASSERT_EQ(plain.Run(), RunStatus::kFinished);
  EXPECT_THAT(plain.store.champions, SizeIs(1));
  EXPECT_THAT(plain.store.minimised, IsEmpty());
  World unedited(EvolutionSettings{.run = FakeRun(), .seeds = {GenomeAt(testing::kStart)}, .minimise_champion = true});
  ASSERT_EQ(unedited.Run(), RunStatus::kFinished);
  EXPECT_THAT(unedited.store.minimised, IsEmpty());
}

TEST(MinimisedRun, DoesNotRecordVariantsThatFailTheirCheck) {
  EditedWorld world;
  world.evaluator.check = [](const Candidate& candidate) {
    ChampionCheck check;
    check.outcome = candidate.op == kMinimise ? Outcome::kWrongResult : Outcome::kOk;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_THAT(world.store.champions, SizeIs(2 + kMinimisedVariants))
      << "the champion, the variants that were tried, and the champion in full";
  EXPECT_THAT(world.store.minimised, IsEmpty());
  EXPECT_EQ(world.evolution.progress().best, 2);
}

// The check may need an edit that the search took for removable, wherever it is in the list.
TEST(MinimisedRun, TriesALongerVariantAfterOneThatFailsItsCheck) {
  for (const char* needed : {"e0", "e5", "e11"}) {
    SCOPED_TRACE(needed);
    EditedWorld world;
    world.evaluator.check = [needed](const Candidate& candidate) {
      ChampionCheck check;
      check.outcome =
          candidate.op == kMinimise && !Names(candidate.genome).contains(needed) ? Outcome::kWrongResult : Outcome::kOk;
      return check;
    };
    ASSERT_EQ(world.Run(), RunStatus::kFinished);
    ASSERT_THAT(world.store.minimised, SizeIs(1));
    const std::set<std::string> left = Names(world.Find(world.store.minimised[0].candidate).genome);
    EXPECT_TRUE(left.contains("e3") && left.contains("e9") && left.contains(needed));
    EXPECT_LT(left.size(), 12u);
    EXPECT_EQ(world.evolution.progress().best, world.store.minimised[0].candidate);
    EXPECT_LE(world.Trials().size(), static_cast<std::size_t>(kMinimisationBudget));
  }
}

// With a verdict the variant would be the best of the database if its time in the search was better by chance.
TEST(MinimisedRun, RecordsNoVerdictOfAVariantThatPassesAndIsSlower) {
  EditedWorld world;
  world.evaluator.check = [](const Candidate& candidate) {
    ChampionCheck check;
    check.outcome = Outcome::kOk;
    check.baseline = Timed(10'000).cases;
    check.candidate = Timed(candidate.op == kMinimise ? 2'000 : 1'000).cases;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_THAT(world.store.champions, SizeIs(2)) << "of the champion, before and after";
  EXPECT_EQ(world.store.champions[1].first, 2);
  EXPECT_THAT(world.store.minimised, IsEmpty());
  EXPECT_EQ(world.evolution.progress().best, 2);
}

// e9 is worth 7% and e3 14%, so both are worth their risk; e2 stays because e9 needs it.
TEST(MinimisedRun, TellsTheCheckHowManyEditsAreUnproven) {
  EditedWorld proven;
  ASSERT_EQ(proven.Run(), RunStatus::kFinished);
  for (const Candidate& candidate : proven.evaluator.checked) EXPECT_EQ(candidate.unproven_edits, 0);
  EditedWorld unproven(3, true, true, {});
  ASSERT_EQ(unproven.Run(), RunStatus::kFinished);
  ASSERT_THAT(unproven.evaluator.checked, SizeIs(2));
  EXPECT_EQ(unproven.evaluator.checked[0].unproven_edits, 12);
  EXPECT_EQ(unproven.evaluator.checked[1].unproven_edits, 3);
  ExpectMinimised(unproven);
}

// Without its unproven edits the variant is 4% slower than the champion, which its check must not hold against it.
TEST(MinimisedRun, RecordsAVariantThatIsSlowerWithoutItsUnprovenEdits) {
  Promises promises = NumberedAreExact();
  promises["e5"] = Promise::kUnproven;
  EditedWorld world(3, true, true, promises);
  const auto time_of = [](const Candidate& candidate) {
    const std::set<std::string> names = Names(candidate.genome);
    return names.contains("e5") ? 5'000.0 : names.contains("e3") ? 5'200.0 : 8'000.0;
  };
  world.evaluator.evaluate = [&](const Candidate& candidate) {
    Evaluation evaluation = Timed(time_of(candidate));
    evaluation.source_digest = Digest(candidate.source);
    return evaluation;
  };
  world.evaluator.check = [&](const Candidate& candidate) {
    ChampionCheck check;
    check.outcome = Outcome::kOk;
    check.candidate = Timed(time_of(candidate)).cases;
    check.baseline = Timed(8'000).cases;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ASSERT_THAT(world.store.minimised, SizeIs(1));
  EXPECT_THAT(Names(world.Find(world.store.minimised[0].candidate).genome), ElementsAre("e3"));
  EXPECT_THAT(world.store.champions, SizeIs(2));
}

// Without its edits the champion is the baseline, which was measured while the machine was faster.
TEST(MinimisedRun, MeasuresVariantsThatTheRunHasMeasuredBefore) {
  EditedWorld world;
  world.evaluator.evaluate = [](const Candidate& candidate) {
    const Evaluation fast = EditedWorld::Measure(candidate);
    Evaluation evaluation = Timed(fast.score_ns * (candidate.measurement == 0 ? 1 : 1.25));
    evaluation.source_digest = fast.source_digest;
    return evaluation;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ExpectMinimised(world);
  for (const Candidate* trial : world.Trials()) EXPECT_GT(trial->measurement, 0);
}

TEST(MinimisedRun, MakesTheSameTrialsAfterAnInterruptionAnywhere) {
  EditedWorld whole;
  ASSERT_EQ(whole.Run(), RunStatus::kFinished);
  const int evolved = whole.evaluator.evaluated - static_cast<int>(whole.Trials().size());
  for (int after = evolved; after < whole.evaluator.evaluated; ++after) {
    SCOPED_TRACE(after);
    EditedWorld cut;
    cut.evaluator.on_evaluated = [&](int evaluated) {
      if (evaluated == after) cut.interrupt.request_stop();
    };
    ASSERT_EQ(cut.Run(), RunStatus::kInterrupted);
    EXPECT_THAT(cut.store.minimised, IsEmpty());
    for (const GenerationRecord& generation : cut.store.generations) {
      for (const Evaluation& evaluation : generation.evaluations) EXPECT_EQ(evaluation.outcome, Outcome::kOk);
    }
    EditedWorld resumed;
    resumed.store.generations = cut.store.generations;
    ASSERT_EQ(resumed.Resume(), RunStatus::kFinished);
    ExpectMinimised(resumed);
    EXPECT_EQ(testing::Spelled(resumed.store.generations), testing::Spelled(whole.store.generations));
    EXPECT_EQ(resumed.evolution.progress().evaluated, whole.evolution.progress().evaluated);
  }
}

TEST(MinimisedRun, GoesOnToTheGenerationsOfARunWithoutTrials) {
  EditedWorld shorter(3);
  ASSERT_EQ(shorter.Run(), RunStatus::kFinished);
  EditedWorld longer(6);
  longer.store.generations = shorter.store.generations;
  ASSERT_EQ(longer.Resume(), RunStatus::kFinished);
  EditedWorld straight(6);
  ASSERT_EQ(straight.Run(), RunStatus::kFinished);
  const auto bred = [](const World& world) {
    std::vector<Genome> genomes;
    for (const GenerationRecord& generation : world.store.generations) {
      if (IsTrial(generation)) continue;
      for (const Candidate& candidate : generation.candidates) genomes.push_back(candidate.genome);
    }
    return genomes;
  };
  EXPECT_EQ(bred(longer), bred(straight));
  EXPECT_EQ(longer.evolution.progress().generation, 6);
  EXPECT_EQ(longer.Trials().size(), shorter.Trials().size()) << "recorded trials are not evaluated again";
  ExpectMinimised(longer);
  int number = 0;
  for (const GenerationRecord& generation : longer.store.generations) EXPECT_EQ(generation.generation, number++);
}

}  // namespace
}  // namespace evo
