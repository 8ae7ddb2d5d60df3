#include "engine/minimisation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/digest.h"
#include "engine/trial_runner.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

namespace evo {
namespace {

using testing::EditedAt;
using ::testing::ElementsAre;
using testing::FakeRun;
using testing::GenomeAt;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::World;

std::set<std::string> Names(const Genome& genome) {
  std::set<std::string> names;
  for (const Edit& edit : genome.edits) names.insert(edit.op);
  return names;
}

std::vector<std::string> Numbered(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("e{}", i));
  return names;
}

Evaluation Timed(double ns) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  CaseMeasurement measured;
  measured.median_ns = evaluation.score_ns = ns;
  measured.p10_ns = 0.999 * ns;
  measured.p90_ns = 1.001 * ns;
  measured.samples.resize(20);
  evaluation.cases = {measured};
  return evaluation;
}

// Time of a set of edits; below zero: wrong.
using TimeOf = std::function<double(const std::set<std::string>&)>;

struct Bench {
  explicit Bench(const std::vector<std::string>& edits, TimeOf of) : time_of(std::move(of)) {
    champion.candidate.id = 1;
    champion.candidate.genome = EditedAt(1, edits);
    champion.evaluation = Timed(time_of(Names(champion.candidate.genome)));
  }

  std::optional<std::vector<Trial>> Evaluate(const std::vector<TrialRequest>& requests) {
    std::vector<Trial> trials;
    for (const auto& [genome, measurement] : requests) {
      ++evaluated;
      Trial& trial = trials.emplace_back();
      trial.candidate.id = evaluated + 1;
      trial.candidate.genome = genome;
      const double ns = time_of(Names(genome)) * (measurement == 0 ? bad_luck : 1);
      if (ns > 0)
        trial.evaluation = Timed(ns);
      else
        trial.evaluation.outcome = Outcome::kWrongResult;
      if (gives_up_champion && measurement > 0) trial.evaluation.cases.at(0).pruned = true;
      trial.evaluation.program_digest = program_of(Names(genome));
      names[trial.candidate.id] = Names(genome);
    }
    ++batches;
    return trials;
  }
  std::optional<Minimised> Run(int budget = kMinimisationBudget, const std::vector<Trial>& rejected = {}) {
    return Minimise(
        champion, budget, [&](const std::vector<TrialRequest>& requests) { return Evaluate(requests); }, rejected);
  }

  TimeOf time_of;
  bool gives_up_champion = false;
  double bad_luck = 1;  // of first measurements
  // By default every set of edits makes a program of its own.
  std::function<std::string(const std::set<std::string>&)> program_of = [](const std::set<std::string>& there) {
    return fmt::format("{}", fmt::join(there, " "));
  };
  Trial champion;
  std::map<CandidateId, std::set<std::string>> names;  // of what was evaluated
  int evaluated = 0;
  int batches = 0;
};

// Each of these edits takes a fifth off; all others do nothing.
TimeOf Matter(std::set<std::string> edits) {
  return [edits](const std::set<std::string>& there) {
    double ns = 10'000;
    for (const std::string& edit : edits) ns *= there.contains(edit) ? 0.8 : 1;
    return ns;
  };
}

TEST(Minimise, FindsTheTwoEditsThatMatterOutOfTwelve) {
  Bench bench(Numbered(12), Matter({"e3", "e9"}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e3", "e9"));
  EXPECT_EQ(minimised->variant.evaluation.score_ns, bench.champion.evaluation.score_ns);
  ASSERT_THAT(minimised->without, SizeIs(2));
  EXPECT_THAT(bench.names.at(minimised->without[0]), ElementsAre("e9"));
  EXPECT_THAT(bench.names.at(minimised->without[1]), ElementsAre("e3"));
  EXPECT_LE(bench.evaluated, 1 + 12 + 1 + 2);
  EXPECT_LE(bench.batches, 1 + 3) << "side by side";
}

TEST(Minimise, KeepsAChampionThatNeedsAll) {
  Bench bench(Numbered(3), Matter({"e0", "e1", "e2"}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_EQ(minimised->variant.candidate.id, bench.champion.candidate.id);
  EXPECT_THAT(minimised->without, SizeIs(3));
  EXPECT_EQ(bench.evaluated, 1 + 3);
}

// It is champion because it was measured fast, which is partly luck.
TEST(Minimise, MeasuresTheChampionAgainBeforeItComparesOthersWithIt) {
  Bench bench(Numbered(6), Matter({"e2"}));
  bench.champion.evaluation = Timed(0.95 * bench.champion.evaluation.score_ns);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2"));
}

TEST(Minimise, WhatSeemsALittleSlowerIsMeasuredOnceMore) {
  Bench bench(Numbered(6), Matter({"e2"}));
  bench.bad_luck = 1.02;
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2"));
  Bench worse(Numbered(6), Matter({"e2"}));
  worse.bad_luck = 1.05;
  const auto kept = worse.Run();
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->variant.candidate.genome.edits, SizeIs(6)) << "that much is believed";
}

TEST(Minimise, AChampionThatIsFoundWrongIsOneNoMore) {
  Bench bench(Numbered(3), [](const std::set<std::string>& there) { return there.size() == 3 ? -1.0 : 8'000.0; });
  bench.champion.evaluation = Timed(8'000);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  ASSERT_TRUE(minimised->wrong);
  EXPECT_EQ(minimised->wrong->outcome, Outcome::kWrongResult);
  EXPECT_EQ(bench.evaluated, 1) << "its variants are of no interest";
}

TEST(Minimise, AMeasurementThatWasPrunedIsNothingToKeepUpWith) {
  Bench bench(Numbered(4), Matter({"e1", "e2"}));
  bench.gives_up_champion = true;
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e1", "e2"));
}

TEST(Minimise, LeavesNothingOfWhatDoesNothing) {
  Bench bench(Numbered(7), Matter({}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, IsEmpty());
  EXPECT_THAT(minimised->without, IsEmpty());
}

TEST(Minimise, OfEditsThatStandInForOneAnotherOneStays) {
  Bench bench(Numbered(6), [](const std::set<std::string>& there) {
    return there.contains("e1") || there.contains("e4") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, SizeIs(1));
  EXPECT_EQ(minimised->variant.evaluation.score_ns, 5'000);
}

TEST(Minimise, AnEditWithoutWhichTheOthersAreWrongStays) {
  Bench bench(Numbered(5), [](const std::set<std::string>& there) {
    return !there.contains("e2") && there.contains("e3") ? -1.0 : there.contains("e3") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2", "e3"));
}

// 40 edits of 0.2% each: below the noise one by one, 8% together.
TEST(Minimise, DoesNotAddUpLossesBelowTheNoise) {
  Bench bench(Numbered(40),
              [](const std::set<std::string>& there) { return 10'000.0 * (1 + 0.002 * static_cast<double>(40 - there.size())); });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_LE(minimised->variant.evaluation.score_ns, 10'000.0 * 1.01);
  EXPECT_LT(minimised->variant.candidate.genome.edits.size(), 40U);
}

TEST(Minimise, AVariantThatWasRejectedIsNotGivenAgain) {
  Bench bench(Numbered(12), Matter({"e3", "e9"}));
  std::vector<Trial> rejected;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < kMinimisedVariants; ++i) {
    const auto minimised = bench.Run(kMinimisationBudget, rejected);
    ASSERT_TRUE(minimised);
    const std::set<std::string> names = Names(minimised->variant.candidate.genome);
    EXPECT_TRUE(names.contains("e3") && names.contains("e9"));
    EXPECT_EQ(names.contains("e0"), i == 1) << "from the back the second time";
    sizes.push_back(names.size());
    rejected.push_back(minimised->variant);
  }
  EXPECT_THAT(sizes, ElementsAre(2, 7, 10)) << "each time half of what was left out stays";
}

TEST(Minimise, NorIsItsProgramInOtherWords) {
  Bench bench(Numbered(4), Matter({"e1"}));
  bench.program_of = [](const std::set<std::string>& there) {
    return there.contains("e0") || there.contains("e2") ? "longer" : "short";
  };
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e1"));
  const auto again = bench.Run(kMinimisationBudget, {minimised->variant});
  ASSERT_TRUE(again);
  EXPECT_EQ(bench.program_of(Names(again->variant.candidate.genome)), "longer");
}

TEST(Minimise, KeepsToItsBudgetAndTheSpeedWhateverMatters) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const int size = 1 + static_cast<int>(random() % 60);
    const int budget = static_cast<int>(random() % 70);
    std::set<std::string> matter;
    for (const std::string& name : Numbered(size)) {
      if (random() % 10 == 0) matter.insert(name);
    }
    Bench bench(Numbered(size), Matter(matter));
    const auto minimised = bench.Run(budget);
    ASSERT_TRUE(minimised);
    EXPECT_LE(bench.evaluated, budget);
    EXPECT_EQ(minimised->variant.evaluation.score_ns, bench.champion.evaluation.score_ns);
    EXPECT_THAT(minimised->without, SizeIs(minimised->variant.candidate.genome.edits.size()));
    if (budget < kMinimisationBudget || matter.size() > 2) continue;
    EXPECT_EQ(Names(minimised->variant.candidate.genome), matter);
  }
}

TEST(KeepsSpeed, IsWhatTheChampionDoesNotBeat) {
  const Trial champion{{.id = 1}, Timed(10'000)};
  EXPECT_TRUE(KeepsSpeed({{.id = 2}, Timed(10'030)}, champion));
  EXPECT_TRUE(KeepsSpeed({{.id = 2}, Timed(9'000)}, champion));
  EXPECT_FALSE(KeepsSpeed({{.id = 2}, Timed(10'300)}, champion));
  EXPECT_FALSE(KeepsSpeed({{.id = 2}, Evaluation{}}, champion));
  EXPECT_FALSE(KeepsSpeed(Trial{}, champion));
  Trial pruned{{.id = 2}, Timed(10'000)};
  pruned.evaluation.cases[0].pruned = true;
  EXPECT_FALSE(KeepsSpeed(pruned, champion));
}

TEST(KeepsSpeed, ComparesChecksOverTheirBaselines) {
  const auto check = [](double candidate_ns, double baseline_ns) {
    ChampionCheck made;
    made.outcome = Outcome::kOk;
    made.candidate = Timed(candidate_ns).cases;
    made.baseline = Timed(baseline_ns).cases;
    return made;
  };
  EXPECT_TRUE(KeepsSpeed(check(11'000, 22'000), check(10'000, 20'000))) << "the clocks were lower the second time";
  EXPECT_FALSE(KeepsSpeed(check(10'500, 20'000), check(10'000, 20'000)));
  ChampionCheck wrong = check(5'000, 20'000);
  wrong.outcome = Outcome::kWrongResult;
  EXPECT_FALSE(KeepsSpeed(wrong, check(10'000, 20'000)));
}

// A run whose champion is its second template, of 12 edits: "e3" and "e9" take off time, "e9" needs "e2", "e5" needs "e3".
struct EditedWorld : World {
  explicit EditedWorld(int generations = 3)
      : World(Asked(generations), {GenomeAt(testing::kStart), EditedAt(22, Numbered(12), {{"e9", "e2"}, {"e5", "e3"}})}) {
    evaluator.evaluate = Measure;
    evolution.MinimiseChampion();
  }
  static RunRecord Asked(int generations) {
    RunRecord run = FakeRun();
    run.generations = generations;
    return run;
  }
  static Evaluation Measure(const Candidate& candidate) {
    const std::set<std::string> names = Names(candidate.genome);
    Evaluation evaluation = Timed(8'000.0 - (names.contains("e3") ? 1'000 : 0) - (names.contains("e9") ? 500 : 0));
    evaluation.source_digest = Digest(candidate.source);
    return evaluation;
  }
  std::vector<const Candidate*> Trials() const {
    std::vector<const Candidate*> trials;
    for (const GenerationRecord& generation : store.generations) {
      for (const Candidate& candidate : generation.candidates) {
        if (candidate.op == kMinimise) trials.push_back(&candidate);
      }
    }
    return trials;
  }
  const Candidate& Find(CandidateId id) const {
    for (const GenerationRecord& generation : store.generations) {
      for (const Candidate& candidate : generation.candidates) {
        if (candidate.id == id) return candidate;
      }
    }
    throw std::out_of_range("no such candidate");
  }
};

void ExpectMinimised(const EditedWorld& world) {
  ASSERT_FALSE(world.store.minimised.empty());
  const auto& variant = world.store.minimised.back();
  EXPECT_EQ(variant.champion, 2);
  EXPECT_THAT(Names(world.Find(variant.candidate).genome), ElementsAre("e2", "e3", "e9"));
  EXPECT_THAT(world.Find(variant.candidate).parents, ElementsAre(2));
  ASSERT_THAT(variant.without, SizeIs(3));
  EXPECT_THAT(Names(world.Find(variant.without[0]).genome), ElementsAre("e3")) << "what needs it goes with it";
  EXPECT_EQ(world.evolution.progress().best, variant.candidate);
}

TEST(MinimisedRun, ChecksAndMarksWhatIsLeft) {
  EditedWorld world;
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  ExpectMinimised(world);
  ASSERT_THAT(world.store.champions, SizeIs(2)) << "the champion and what is left of it";
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

TEST(MinimisedRun, AChampionThatIsFoundWrongGivesWayToTheNext) {
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

TEST(MinimisedRun, IsNotOneUnlessAskedOrWithoutACheck) {
  EditedWorld unchecked;
  unchecked.evolution.LeaveUnchecked();
  ASSERT_EQ(unchecked.Run(), RunStatus::kFinished);
  EXPECT_THAT(unchecked.Trials(), IsEmpty());
  World plain(EditedWorld::Asked(3), unchecked.seeds);
  plain.evaluator.evaluate = EditedWorld::Measure;
  ASSERT_EQ(plain.Run(), RunStatus::kFinished);
  EXPECT_THAT(plain.store.champions, SizeIs(1));
  EXPECT_THAT(plain.store.minimised, IsEmpty());
  World unedited(FakeRun());
  unedited.evolution.MinimiseChampion();
  ASSERT_EQ(unedited.Run(), RunStatus::kFinished);
  EXPECT_THAT(unedited.store.minimised, IsEmpty());
}

TEST(MinimisedRun, AVariantThatFailsItsCheckIsNotMarked) {
  EditedWorld world;
  world.evaluator.check = [](const Candidate& candidate) {
    ChampionCheck check;
    check.outcome = candidate.op == kMinimise ? Outcome::kWrongResult : Outcome::kOk;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_THAT(world.store.champions, SizeIs(1 + kMinimisedVariants)) << "the champion and the variants that were tried";
  EXPECT_THAT(world.store.minimised, IsEmpty());
  EXPECT_EQ(world.evolution.progress().best, 2);
}

// The check may find that an edit counts which the search took for removable, wherever it is.
TEST(MinimisedRun, AfterAFormThatFailsItsCheckALongerOneIsTried) {
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

// It would be the best of the database if its time in the search was better by chance.
TEST(MinimisedRun, AVariantThatHoldsAndIsSlowerGetsNoVerdict) {
  EditedWorld world;
  world.evaluator.check = [](const Candidate& candidate) {
    ChampionCheck check;
    check.outcome = Outcome::kOk;
    check.baseline = Timed(10'000).cases;
    check.candidate = Timed(candidate.op == kMinimise ? 2'000 : 1'000).cases;
    return check;
  };
  ASSERT_EQ(world.Run(), RunStatus::kFinished);
  EXPECT_THAT(world.store.champions, SizeIs(1));
  EXPECT_THAT(world.store.minimised, IsEmpty());
  EXPECT_EQ(world.evolution.progress().best, 2);
}

TEST(MinimisedRun, InterruptedAnywhereAndResumedLosesNothing) {
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

TEST(MinimisedRun, GoesOnToMoreGenerationsAsIfItHadNotBeenMinimised) {
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
  EXPECT_EQ(longer.Trials().size(), shorter.Trials().size()) << "what is known is not tried again";
  ExpectMinimised(longer);
  int number = 0;
  for (const GenerationRecord& generation : longer.store.generations) EXPECT_EQ(generation.generation, number++);
}

}  // namespace
}  // namespace evo
