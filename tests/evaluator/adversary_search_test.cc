// How the adversary searches, with probes that need no candidate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "evaluator/adversary/adversary.h"
#include "evaluator/gate/input_generator.h"
#include "tests/evaluator/mixed_task.h"

namespace evo {
namespace {

Task Mixed() { return ParseTask(kMixedTask, kMixedReference, "mixed"); }
bool Never() { return false; }

double LargestX(const InputProgram& program) {
  static const Task task = Mixed();
  const std::vector<double> x = ToDoubles(DrawArguments(task, task.small, program).front(), Dtype::kF32);
  return *std::ranges::max_element(x);
}

class AdversarySearch : public ::testing::Test {
 protected:
  AdversaryReport Run(const InputProbe& probe, int most, std::uint64_t seed = 1) {
    Adversary adversary(task_, task_.small, seed);
    return adversary.Run(probe, most, Never);
  }
  const Task task_ = Mixed();
};

TEST_F(AdversarySearch, TriesSeedsFirstInTheirOrder) {
  Adversary adversary(task_, task_.small, 1);
  adversary.Seed({ParseInputProgram("x: normal | scale(3)", 7, task_), ParseInputProgram("h: cauchy(1)", 8, task_)});
  std::vector<std::string> tried;
  const AdversaryReport report = adversary.Run(
      [&](const InputProgram& program) -> ProbeAnswer {
        tried.push_back(ToText(program));
        return 0.5;
      },
      3, Never);
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried[0], "x: normal(0,1) | scale(3)");
  EXPECT_EQ(tried[1], "h: cauchy(1)");
  EXPECT_EQ(report.inputs, 3);
  EXPECT_EQ(report.worst, 0.5);
  EXPECT_EQ(ToText(report.worst_input), tried[0]) << "the first of equals";
  EXPECT_EQ(report.worst_input.seed, 7U);
}

TEST_F(AdversarySearch, MakesTheSameDecisionsForTheSameSeed) {
  const auto tried = [&](std::uint64_t seed) {
    std::vector<std::string> texts;
    Run(
        [&](const InputProgram& program) -> ProbeAnswer {
          texts.push_back(ToText(program) + std::to_string(program.seed));
          return 1 / (2 + static_cast<double>(texts.back().size() % 7));
        },
        300, seed);
    return texts;
  };
  EXPECT_EQ(tried(1), tried(1));
  EXPECT_NE(tried(1), tried(2));
}

// Random programs alone would need millions: the largest value must lie within 0.1% of a number.
TEST_F(AdversarySearch, ClimbsTowardsLargerErrors) {
  const auto nearness = [](const InputProgram& program) -> ProbeAnswer {
    const double distance = std::abs(LargestX(program) / 54321 - 1);
    return distance < 1e-3 ? 1 : 0.9 / (1 + distance);
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) found += Run(nearness, 2000, seed).failing ? 1 : 0;
  EXPECT_GE(found, 4);
}

TEST_F(AdversarySearch, ReportsAReducedFailure) {
  const AdversaryReport report = Run(
      [](const InputProgram& program) -> ProbeAnswer {
        if (LargestX(program) > 1000) return Failure{Outcome::kWrongResult, "too large"};
        return 0.1;
      },
      2000);
  ASSERT_TRUE(report.failing);
  EXPECT_EQ(report.failing->failure.message, "too large");
  EXPECT_GT(LargestX(report.failing->program), 1000);
  EXPECT_LE(ToText(report.failing->program).size(), ToText(report.failing->found).size());
  EXPECT_LE(report.failing->program.arguments.size(), 1U);
  EXPECT_EQ(report.worst, 0.1) << "the failure is not among right answers";
}

TEST_F(AdversarySearch, CountsAnErrorAtTheBoundAsAFailure) {
  const AdversaryReport report = Run([](const InputProgram&) -> ProbeAnswer { return 2.5; }, 10);
  ASSERT_TRUE(report.failing);
  EXPECT_EQ(report.failing->failure.outcome, Outcome::kWrongResult);
  EXPECT_EQ(report.failing->failure.message, "the error is 2.5 times the bound");
  EXPECT_EQ(ToText(report.failing->program), "") << "any input does";
}

TEST_F(AdversarySearch, LearnsNothingFromIllegalInputs) {
  const AdversaryReport report = Run([](const InputProgram&) -> ProbeAnswer { return IllegalInput{}; }, 50);
  EXPECT_EQ(report.inputs, 50);
  EXPECT_EQ(report.illegal, 50);
  EXPECT_FALSE(report.failing);
  EXPECT_EQ(report.worst, 0);
}

TEST_F(AdversarySearch, TheWorstErrorIsThatOfAnInputThatIsLegalForCertain) {
  int input = 0;
  const AdversaryReport report = Run(
      [&](const InputProgram&) -> ProbeAnswer {
        ++input;
        return input % 2 == 0 ? RightAnswer{0.9, kNoValue} : RightAnswer{0.001 * input};
      },
      50);
  EXPECT_EQ(report.inputs, 50);
  EXPECT_NEAR(report.worst, 0.049, 1e-9);
}

TEST_F(AdversarySearch, DoesNotAskAgainAfterTheProcessMustEnd) {
  int asked = 0;
  const AdversaryReport report = Run(
      [&](const InputProgram&) -> ProbeAnswer {
        ++asked;
        return Failure{Outcome::kCrash, "illegal address", true};
      },
      50);
  EXPECT_EQ(asked, 1);
  ASSERT_TRUE(report.failing);
  EXPECT_EQ(report.failing->failure.outcome, Outcome::kCrash);
}

TEST_F(AdversarySearch, StopsWhenToldAndGoesOnLater) {
  Adversary adversary(task_, task_.small, 1);
  int asked = 0;
  const InputProbe probe = [&](const InputProgram&) -> ProbeAnswer {
    ++asked;
    return 0.5;
  };
  EXPECT_EQ(adversary.Run(probe, 100, [&] { return asked == 7; }).inputs, 7);
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(adversary.Run(probe, 5, Never).inputs, 5);
}

TEST_F(AdversarySearch, StopsDuringAReduction) {
  int asked = 0;
  Adversary adversary(task_, task_.small, 1);
  adversary.Seed({ParseInputProgram("x: normal | scale(3) | shift(5) | abs ; h: normal | abs", 7, task_)});
  const AdversaryReport report = adversary.Run(
      [&](const InputProgram&) -> ProbeAnswer {
        ++asked;
        return Failure{Outcome::kWrongResult, "wrong"};
      },
      100, [&] { return asked == 2; });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(report.failing);
}

}  // namespace
}  // namespace evo
