#include "engine/minimisation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/engine/edited_kernels.h"
#include "tests/engine/fakes.h"

namespace evo {
namespace {

using testing::EditedAt;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Names;
using testing::Numbered;
using testing::NumberedAreExact;
using ::testing::SizeIs;
using testing::Timed;

// The time of a set of edits; negative: the kernel is wrong.
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
      if (measurement > 0 && !wrong_again.empty() && Names(genome) == wrong_again)
        trial.evaluation.outcome = Outcome::kWrongResult;
      if (champion_is_pruned && measurement > 0) trial.evaluation.cases.at(0).pruned = true;
      trial.evaluation.program_digest = program_of(Names(genome));
      names[trial.candidate.id] = Names(genome);
    }
    ++batches;
    return trials;
  }
  std::optional<Minimised> Run(int budget = kMinimisationBudget, const std::vector<Trial>& rejected = {}) {
    return Minimise(
        champion, NumberedAreExact(), budget, [&](const std::vector<TrialRequest>& requests) { return Evaluate(requests); },
        rejected);
  }

  TimeOf time_of;
  bool champion_is_pruned = false;
  std::set<std::string> wrong_again;  // the edits of a kernel that is right only the first time
  double bad_luck = 1;                // factor on the time of first measurements
  // By default every set of edits makes another program.
  std::function<std::string(const std::set<std::string>&)> program_of = [](const std::set<std::string>& there) {
    return fmt::format("{}", fmt::join(there, " "));
  };
  Trial champion;
  std::map<CandidateId, std::set<std::string>> names;  // the edits of the evaluated
  int evaluated = 0;
  int batches = 0;
};

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

// The edits of `worth` make the kernel so many times faster; all others do nothing.
TimeOf Worth(std::map<std::string, double> worth) {
  return [worth](const std::set<std::string>& there) {
    double ns = 10'000;
    for (const auto& [edit, factor] : worth) ns /= there.contains(edit) ? factor : 1;
    return ns;
  };
}

TEST(Minimise, DropsUnprovenEditsThatAreNotWorthTheirRisk) {
  Bench bench({"e0", "little", "e1", "nothing", "much"}, Worth({{"e1", 1.03}, {"little", 1.03}, {"much", 1.07}}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e1", "much")) << "a proven edit needs no margin";
  EXPECT_EQ(minimised->unproven_dropped, 2);
  EXPECT_DOUBLE_EQ(minimised->variant.evaluation.score_ns, 10'000 / 1.03 / 1.07);
}

TEST(Minimise, KeepsOneOfTwoUnprovenEditsThatReplaceEachOther) {
  Bench bench({"a", "b", "idle"},
              [](const std::set<std::string>& there) { return there.contains("a") || there.contains("b") ? 5'000.0 : 9'000.0; });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, SizeIs(1));
  EXPECT_EQ(minimised->variant.evaluation.score_ns, 5'000);
  EXPECT_EQ(minimised->unproven_dropped, 2);
}

// Each is worth 4%: all three together would be worth more than the margin, and none of them is when its turn comes.
TEST(Minimise, DropsUnprovenEditsOneAfterAnother) {
  Bench bench({"a", "b", "c"}, Worth({{"a", 1.04}, {"b", 1.04}, {"c", 1.04}}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, IsEmpty());
  EXPECT_EQ(minimised->unproven_dropped, 3);
}

TEST(Minimise, KeepsAnUnprovenEditWithoutWhichTheKernelIsWrong) {
  Bench bench({"e0", "fix"}, [](const std::set<std::string>& there) {
    return there.contains("e0") && !there.contains("fix") ? -1.0 : there.contains("e0") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e0", "fix"));
  EXPECT_EQ(minimised->unproven_dropped, 0);
}

TEST(Minimise, ReportsAChampionWithUnprovenEditsThatIsFoundWrong) {
  Bench bench({"e0", "a"}, [](const std::set<std::string>& there) { return there.size() == 2 ? -1.0 : 8'000.0; });
  bench.champion.evaluation = Timed(8'000);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  ASSERT_TRUE(minimised->wrong);
  EXPECT_EQ(minimised->wrong->outcome, Outcome::kWrongResult);
}

// Its first measurement was right by chance.
TEST(Minimise, DoesNotTakeAWrongVariantForTheChampion) {
  Bench bench({"e0", "a"}, Worth({{"e0", 1.5}}));
  bench.wrong_again = {"e0"};
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_FALSE(minimised->wrong);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("a", "e0"));
}

TEST(Minimise, DoesNotReturnARejectedVariantWithoutUnprovenEditsAgain) {
  Bench bench({"a", "b", "c", "d"}, Worth({}));
  std::vector<Trial> rejected;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < kMinimisedVariants; ++i) {
    const auto minimised = bench.Run(kMinimisationBudget, rejected);
    ASSERT_TRUE(minimised);
    sizes.push_back(minimised->variant.candidate.genome.edits.size());
    rejected.push_back(minimised->variant);
  }
  EXPECT_THAT(sizes, ElementsAre(0, 2, 3));
}

TEST(Minimise, KeepsToItsBudgetWithUnprovenEdits) {
  for (int budget = 0; budget < 20; ++budget) {
    SCOPED_TRACE(budget);
    Bench bench({"a", "e0", "b", "e1", "c", "much"}, Worth({{"a", 1.02}, {"e1", 1.2}, {"much", 1.3}}));
    const auto minimised = bench.Run(budget);
    ASSERT_TRUE(minimised);
    EXPECT_LE(bench.evaluated, budget);
    EXPECT_LE(minimised->variant.evaluation.score_ns, 1.03 * bench.champion.evaluation.score_ns);
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
