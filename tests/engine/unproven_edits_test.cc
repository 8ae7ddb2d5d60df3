// Minimisation of champions with edits whose operators promise nothing.
#include "engine/unproven_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/minimisation_bench.h"

namespace evo {
namespace {

using Bench = testing::MinimisationBench;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Names;
using ::testing::SizeIs;
using testing::Timed;
using testing::TimeOf;

// The edits of `worth` make the kernel so many times faster; all others do nothing.
TimeOf Worth(std::map<std::string, double> worth) {
  return [worth](const std::set<std::string>& there) {
    double ns = 10'000;
    for (const auto& [edit, factor] : worth) ns /= there.contains(edit) ? factor : 1;
    return ns;
  };
}

TEST(UnprovenEdits, GoUnlessTheyAreWorthTheirRisk) {
  Bench bench({"e0", "little", "e1", "nothing", "much"}, Worth({{"e1", 1.03}, {"little", 1.03}, {"much", 1.07}}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e1", "much")) << "a proven edit needs no margin";
  EXPECT_EQ(minimised->unproven_dropped, 2);
  EXPECT_DOUBLE_EQ(minimised->variant.evaluation.score_ns, 10'000 / 1.03 / 1.07);
}

TEST(UnprovenEdits, KeepOneOfTwoThatReplaceEachOther) {
  Bench bench({"a", "b", "idle"},
              [](const std::set<std::string>& there) { return there.contains("a") || there.contains("b") ? 5'000.0 : 9'000.0; });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, SizeIs(1));
  EXPECT_EQ(minimised->variant.evaluation.score_ns, 5'000);
  EXPECT_EQ(minimised->unproven_dropped, 2);
}

// Each is worth 4%: all three together would be worth more than the margin, and none of them is when its turn comes.
TEST(UnprovenEdits, GoOneAfterAnother) {
  Bench bench({"a", "b", "c"}, Worth({{"a", 1.04}, {"b", 1.04}, {"c", 1.04}}));
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(minimised->variant.candidate.genome.edits, IsEmpty());
  EXPECT_EQ(minimised->unproven_dropped, 3);
}

TEST(UnprovenEdits, StayIfTheKernelIsWrongWithoutThem) {
  Bench bench({"e0", "fix"}, [](const std::set<std::string>& there) {
    return there.contains("e0") && !there.contains("fix") ? -1.0 : there.contains("e0") ? 5'000.0 : 9'000.0;
  });
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("e0", "fix"));
  EXPECT_EQ(minimised->unproven_dropped, 0);
}

TEST(UnprovenEdits, OfAChampionThatIsFoundWrong) {
  Bench bench({"e0", "a"}, [](const std::set<std::string>& there) { return there.size() == 2 ? -1.0 : 8'000.0; });
  bench.champion.evaluation = Timed(8'000);
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  ASSERT_TRUE(minimised->wrong);
  EXPECT_EQ(minimised->wrong->outcome, Outcome::kWrongResult);
}

// Its first measurement was right by chance.
TEST(UnprovenEdits, AWrongVariantIsNotTheChampion) {
  Bench bench({"e0", "a"}, Worth({{"e0", 1.5}}));
  bench.wrong_again = {"e0"};
  const auto minimised = bench.Run();
  ASSERT_TRUE(minimised);
  EXPECT_FALSE(minimised->wrong);
  EXPECT_THAT(Names(minimised->variant.candidate.genome), ElementsAre("a", "e0"));
}

TEST(UnprovenEdits, ARejectedVariantIsNotReturnedAgain) {
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

TEST(UnprovenEdits, KeepToTheBudget) {
  for (int budget = 0; budget < 20; ++budget) {
    SCOPED_TRACE(budget);
    Bench bench({"a", "e0", "b", "e1", "c", "much"}, Worth({{"a", 1.02}, {"e1", 1.2}, {"much", 1.3}}));
    const auto minimised = bench.Run(budget);
    ASSERT_TRUE(minimised);
    EXPECT_LE(bench.evaluated, budget);
    EXPECT_LE(minimised->variant.evaluation.score_ns, 1.03 * bench.champion.evaluation.score_ns);
  }
}

}  // namespace
}  // namespace evo
