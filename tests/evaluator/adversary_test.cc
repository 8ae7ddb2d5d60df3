// The search for counter-examples alone, without the standard battery: it finds wrong functions of rows and spares honest ones.
#include "evaluator/adversary/adversary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evaluator/gate/standard_battery.h"
#include "tests/evaluator/row_problems.h"

namespace evo {
namespace {

constexpr int kMostInputs = 2000;
constexpr std::uint64_t kSeeds = 10;
constexpr std::uint64_t kSeedsOfHonest = 3;

// ---- what is expected ----

void ExpectFound(const Problem& problem, const std::string& name, const Function<float>& candidate) {
  int most = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Adversary adversary(problem.task, problem.task.small, seed);
    const AdversaryReport report = adversary.Run(ProbeOf(problem, candidate), kMostInputs, [] { return false; });
    EXPECT_TRUE(report.failing) << name << ", seed " << seed << ", worst " << report.worst << " on "
                                << ToText(report.worst_input);
    most = std::max(most, report.inputs);
    if (!report.failing) continue;
    // What it reports fails again.
    const ProbeAnswer again = ProbeOf(problem, candidate)(report.failing->program);
    EXPECT_TRUE(std::holds_alternative<Failure>(again) || std::get<RightAnswer>(again).error >= 1) << name;
    if (seed == 1) ::testing::Test::RecordProperty(name, Describe(report.failing->program, problem.task, problem.task.small));
  }
  ::testing::Test::RecordProperty(name + "_inputs", most);
}

void ExpectNeverFound(const Problem& problem, const std::string& name, const Function<float>& candidate) {
  for (std::uint64_t seed = 1; seed <= kSeedsOfHonest; ++seed) {
    Adversary adversary(problem.task, problem.task.small, seed);
    const AdversaryReport report = adversary.Run(ProbeOf(problem, candidate), kMostInputs, [] { return false; });
    EXPECT_FALSE(report.failing) << name << ", seed " << seed << ": " << report.failing->failure.message << " on "
                                 << ToText(report.failing->program);
    EXPECT_EQ(report.inputs, report.failing ? report.inputs : kMostInputs);
    EXPECT_LT(report.illegal, kMostInputs / 2) << name << ": most inputs should say something";
    ::testing::Test::RecordProperty(name + "_worst", std::to_string(report.worst) + " on " + ToText(report.worst_input));
  }
}

struct Candidate {
  std::string name;
  Function<float> function;
};

struct Family {
  Problem problem;
  std::vector<Candidate> wrong;
  std::vector<Candidate> honest;
};

Family Softmaxes() {
  return {SoftmaxProblem(),
          {{"without_maximum", SoftmaxOf<float>(rows::SoftmaxWithoutMaximum)},
           {"maximum_from_first", SoftmaxOf<float>(rows::SoftmaxFromFirst)},
           {"maximum_from_zero", SoftmaxOf<float>(rows::SoftmaxFromZero)},
           {"maximum_of_sample", SoftmaxOf<float>(rows::SoftmaxOfSample)},
           {"maximum_of_first_block", SoftmaxOf<float>(rows::SoftmaxOfFirstBlock)},
           {"without_small_terms", SoftmaxOf<float>(rows::SoftmaxWithoutSmallTerms)}},
          {{"two_pass", SoftmaxOf<float>(rows::TwoPassSoftmax<float>)},
           {"online", SoftmaxOf<float>(rows::OnlineSoftmax)},
           {"fast_exp", SoftmaxOf<float>(rows::FastSoftmax)}}};
}

Family Sums() {
  return {SumProblem(),
          {{"half_sum", SumOf<float>(rows::HalfSum)},
           {"without_tail", SumOf<float>(rows::SumWithoutTail)},
           {"of_large_terms", SumOf<float>(rows::SumOfLargeTerms)}},
          {{"tree", SumOf<float>(rows::TreeSum)},
           {"interleaved", SumOf<float>(rows::InterleavedSum)},
           {"reversed", SumOf<float>(rows::ReversedSum)}}};
}

Family LayerNorms() {
  return {LayerNormProblem(),
          {{"squares_minus_mean", LayerNormOf<float>([](Row<float> x) { return rows::ShiftedMoments(x, 0); })},
           {"without_eps", LayerNormOf<float>(rows::TwoPassMoments<float>, 0)},
           {"large_eps", LayerNormOf<float>(rows::TwoPassMoments<float>, 1e-4F)}},
          {{"tree", LayerNormOf<float>(rows::TreeMoments)}, {"welford", LayerNormOf<float>(rows::WelfordMoments)}}};
}

class AdversaryAlone : public ::testing::TestWithParam<Family (*)()> {};

TEST_P(AdversaryAlone, FindsEveryWrongCandidate) {
  const Family family = GetParam()();
  for (const Candidate& candidate : family.wrong) ExpectFound(family.problem, candidate.name, candidate.function);
}

TEST_P(AdversaryAlone, SparesHonestCandidates) {
  const Family family = GetParam()();
  for (const Candidate& candidate : family.honest) ExpectNeverFound(family.problem, candidate.name, candidate.function);
}

std::string NameOfFamily(const ::testing::TestParamInfo<Family (*)()>& info) {
  constexpr const char* kNames[] = {"Softmax", "Sum", "LayerNorm"};
  return kNames[info.index];
}
INSTANTIATE_TEST_SUITE_P(Of, AdversaryAlone, ::testing::Values(Softmaxes, Sums, LayerNorms), NameOfFamily);

// The battery alone, tried in its order.
AdversaryReport Battery(const Problem& problem, const Function<float>& candidate, std::uint64_t seed) {
  const std::vector<InputProgram> battery = StandardBattery(problem.task, problem.task.small, seed);
  Adversary adversary(problem.task, problem.task.small, seed);
  adversary.Seed(battery);
  return adversary.Run(ProbeOf(problem, candidate), static_cast<int>(battery.size()), [] { return false; });
}

class BatteryAlone : public ::testing::TestWithParam<Family (*)()> {};

TEST_P(BatteryAlone, FindsEveryWrongCandidate) {
  const Family family = GetParam()();
  for (const Candidate& candidate : family.wrong) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      EXPECT_TRUE(Battery(family.problem, candidate.function, seed).failing) << candidate.name << ", seed " << seed;
  }
}

TEST_P(BatteryAlone, SparesHonestCandidates) {
  const Family family = GetParam()();
  for (const Candidate& candidate : family.honest) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const AdversaryReport report = Battery(family.problem, candidate.function, seed);
      EXPECT_FALSE(report.failing) << candidate.name << ", seed " << seed << ": " << ToText(report.failing->program);
      EXPECT_LT(report.illegal, 12) << "the baseline handles most of the battery";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Of, BatteryAlone, ::testing::Values(Softmaxes, Sums, LayerNorms), NameOfFamily);

// E[(x - x_0)^2] - E[x - x_0]^2 loses as many units of the variance as the row is long where the first element is far from all
// others.
TEST(LongRows, ShowALayerNormThatIsShiftedByItsFirstElement) {
  const Problem problem = LayerNormProblem(20'000);
  const Function<float> shifted = LayerNormOf<float>([](Row<float> x) { return rows::ShiftedMoments(x, x.front()); });
  EXPECT_TRUE(Battery(problem, shifted, 1).failing);
  for (const Candidate& honest : LayerNorms().honest) {
    const AdversaryReport report = Battery(problem, honest.function, 1);
    EXPECT_FALSE(report.failing) << honest.name << ": " << ToText(report.failing->program);
  }
}

}  // namespace
}  // namespace evo
