#include "engine/minimisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/engine/minimisation_bench.h"

namespace evo {
namespace {

using Bench = testing::MinimisationBench;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Names;
using testing::Numbered;
using ::testing::SizeIs;
using testing::Timed;
using testing::TimeOf;

// Each of these edits takes a fifth off the time. All others do nothing.
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
  EXPECT_LE(bench.batches, 1 + 3) << "chunks are evaluated in one batch";
}

TEST(Minimise, KeepsAChampionThatNeedsAllItsEdits) {
  Bench bench(Numbered(3), Matter({"e0", "e1", "e2"}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_EQ(minimised->variant.candidate.id, bench.champion.candidate.id);
  EXPECT_THAT(minimised->without, SizeIs(3));
  EXPECT_EQ(bench.evaluated, 1 + 3);
}

// The measurement that made it champion was partly luck.
TEST(Minimise, MeasuresTheChampionAgainBeforeItComparesVariantsWithIt) {
  Bench bench(Numbered(6), Matter({"e2"}));
  bench.champion.evaluation = Timed(0.95 * bench.champion.evaluation.score_ns);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2"));
}

TEST(Minimise, MeasuresAVariantThatSeemsALittleSlowerOnceMore) {
  Bench bench(Numbered(6), Matter({"e2"}));
  bench.bad_luck = 1.02;
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2"));
  Bench worse(Numbered(6), Matter({"e2"}));
  worse.bad_luck = 1.05;
  const auto kept = worse.Run();
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->variant.candidate.genome.edits, SizeIs(6)) << "5% slower is not measured again";
}

TEST(Minimise, ReportsAChampionThatIsFoundWrong) {
  Bench bench(Numbered(3), [](const std::set<std::string>& there) { return there.size() == 3 ? -1.0 : 8'000.0; });
  bench.champion.evaluation = Timed(8'000);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  ASSERT_TRUE(minimised->wrong);
  EXPECT_EQ(minimised->wrong->outcome, Outcome::kWrongResult);
  EXPECT_EQ(bench.evaluated, 1) << "variants of a wrong champion are not evaluated";
}

TEST(Minimise, ComparesNothingWithAPrunedMeasurement) {
  Bench bench(Numbered(4), Matter({"e1", "e2"}));
  bench.champion_is_pruned = true;
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e1", "e2"));
}

TEST(Minimise, RemovesAllEditsIfNoneMatters) {
  Bench bench(Numbered(7), Matter({}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, IsEmpty());
  EXPECT_THAT(minimised->without, IsEmpty());
}

TEST(Minimise, KeepsOneOfTwoEditsThatReplaceEachOther) {
  Bench bench(Numbered(6), [](const std::set<std::string>& there) {
    return there.contains("e1") || there.contains("e4") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, SizeIs(1));
  EXPECT_EQ(minimised->variant.evaluation.score_ns, 5'000);
}

TEST(Minimise, KeepsAnEditWithoutWhichTheOthersAreWrong) {
  Bench bench(Numbered(5), [](const std::set<std::string>& there) {
    return !there.contains("e2") && there.contains("e3") ? -1.0 : there.contains("e3") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e2", "e3"));
}

// Each of 40 edits gains 0.2%, which is below the noise; together they gain 8%.
TEST(Minimise, DoesNotAddUpLossesBelowTheNoise) {
  Bench bench(Numbered(40),
              [](const std::set<std::string>& there) { return 10'000.0 * (1 + 0.002 * static_cast<double>(40 - there.size())); });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_LE(minimised->variant.evaluation.score_ns, 10'000.0 * 1.01);
  EXPECT_LT(minimised->variant.candidate.genome.edits.size(), 40U);
}

TEST(Minimise, DoesNotReturnARejectedVariantAgain) {
  Bench bench(Numbered(12), Matter({"e3", "e9"}));
  std::vector<Trial> rejected;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < kMinimisedVariants; ++i) {
    const auto minimised = bench.Run(kMinimisationBudget, rejected);
    ASSERT_TRUE(minimised);
    const std::set<std::string> names = Names(minimised->variant.candidate.genome);
    EXPECT_TRUE(names.contains("e3") && names.contains("e9"));
    EXPECT_EQ(names.contains("e0"), i == 1) << "the second time the last edits go first";
    sizes.push_back(names.size());
    rejected.push_back(minimised->variant);
  }
  EXPECT_THAT(sizes, ElementsAre(2, 7, 10)) << "each time half of the edits that were left out stay";
}

TEST(Minimise, DoesNotReturnAnotherVariantOfARejectedProgram) {
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

TEST(Minimise, KeepsToItsBudgetAndKeepsTheSpeed) {
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

TEST(KeepsSpeed, IfTheChampionIsNotFasterByMoreThanTheNoise) {
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

TEST(KeepsSpeed, LeavesHalfOfTheGainHoweverManyUnprovenEditsWereLeftOut) {
  const auto check = [](double candidate, double baseline) {
    ChampionCheck made;
    made.outcome = Outcome::kOk;
    made.candidate = Timed(candidate).cases;
    made.baseline = Timed(baseline).cases;
    return made;
  };
  const ChampionCheck champion = check(10'000, 11'700);
  EXPECT_TRUE(KeepsSpeed(check(10'800, 11'700), champion, 4));
  EXPECT_FALSE(KeepsSpeed(check(11'700, 11'700), champion, 4));
  EXPECT_FALSE(KeepsSpeed(check(10'800, 11'700), champion, 1));
}

TEST(KeepsSpeed, ComparesChecksRelativeToTheirBaselines) {
  const auto check = [](double candidate_ns, double baseline_ns) {
    ChampionCheck made;
    made.outcome = Outcome::kOk;
    made.candidate = Timed(candidate_ns).cases;
    made.baseline = Timed(baseline_ns).cases;
    return made;
  };
  EXPECT_TRUE(KeepsSpeed(check(11'000, 22'000), check(10'000, 20'000))) << "the clocks were lower the second time";
  EXPECT_FALSE(KeepsSpeed(check(10'500, 20'000), check(10'000, 20'000)));
  EXPECT_FALSE(KeepsSpeed(check(10'400, 20'000), check(10'000, 20'000)));
  EXPECT_TRUE(KeepsSpeed(check(10'400, 20'000), check(10'000, 20'000), 1)) << "an unproven edit was left out";
  EXPECT_FALSE(KeepsSpeed(check(10'700, 20'000), check(10'000, 20'000), 1));
  ChampionCheck wrong = check(5'000, 20'000);
  wrong.outcome = Outcome::kWrongResult;
  EXPECT_FALSE(KeepsSpeed(wrong, check(10'000, 20'000)));
}

}  // namespace
}  // namespace evo
