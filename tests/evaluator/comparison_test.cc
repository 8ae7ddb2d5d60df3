#include "evaluator/gate/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Values = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

OutputCheck Tolerance(double l2, double max) { return {OutputCheck::Kind::kTolerance, l2, max}; }
OutputCheck Exact() { return {OutputCheck::Kind::kExact, 0, 0}; }

// Inspects in place, then judges, like the gate.
Difference Compare(const Values& output, const Values& reference, const OutputCheck& check, const std::string& name,
                   const Allowance& allowance = {}, std::uint64_t as_before = ~0ULL) {
  const Inspection inspection{Inspection::Kind::kOutput,
                              reinterpret_cast<std::uint64_t>(output.data()),
                              reinterpret_cast<std::uint64_t>(reference.data()),
                              output.size() * sizeof(double),
                              Dtype::kF64,
                              check.kind == OutputCheck::Kind::kExact};
  return Judge(InspectHere(inspection), output.size(), check, allowance, name, [&](std::uint64_t i) {
    return ElementSeen{output[i], reference[i], i == as_before};
  });
}

Difference Compared(const Values& output, const Values& reference) {
  return Compare(output, reference, Tolerance(1e-3, 1e-2), "O");
}

TEST(Comparison, OfEqualsIsZero) {
  const Difference same = Compared({1, -2, 3}, {1, -2, 3});
  EXPECT_TRUE(same.acceptable);
  EXPECT_EQ(same.l2, 0);
  EXPECT_EQ(same.max, 0);
  EXPECT_THAT(same.message, IsEmpty());
}

TEST(Comparison, ErrorsAreRelativeToTheScaleOfTheReference) {
  const Difference d = Compared({3, 4.5, 0, 0}, {3, 4, 0, 0});
  EXPECT_DOUBLE_EQ(d.l2, 0.1);   // 0.5 / 5
  EXPECT_DOUBLE_EQ(d.max, 0.2);  // 0.5 / (5 / sqrt 4)
  EXPECT_FALSE(d.acceptable);
  const Difference scaled = Compared({3e-7, 4.5e-7, 0, 0}, {3e-7, 4e-7, 0, 0});
  EXPECT_NEAR(scaled.l2, d.l2, 1e-12) << "tiny values are judged as strictly";
  EXPECT_NEAR(scaled.max, d.max, 1e-12);
}

TEST(Comparison, SaysWhereAndByHowMuch) {
  EXPECT_THAT(Compared({1, 1, 9, 1}, {1, 1, 1, 1}).message,
              ::testing::AllOf(HasSubstr("O:"), HasSubstr("at 2: 9, not 1"), HasSubstr("allowed 1e-03")));
}

TEST(Comparison, EitherBoundAloneRefuses) {
  const Values reference(10000, 1.0);
  Values one_off = reference;
  one_off[77] = 1.05;  // l2 5e-4, max 5e-2
  EXPECT_FALSE(Compared(one_off, reference).acceptable);
  EXPECT_TRUE(Compare(one_off, reference, Tolerance(1e-3, 0.1), "O").acceptable);
  const Values all_off(10000, 1.005);  // l2 5e-3, max 5e-3
  EXPECT_FALSE(Compared(all_off, reference).acceptable);
}

TEST(Comparison, ABoundIsInclusive) { EXPECT_TRUE(Compare({3, 4.5, 0, 0}, {3, 4, 0, 0}, Tolerance(0.1, 0.2), "O").acceptable); }

TEST(Comparison, ZerosNeverPass) {
  EXPECT_FALSE(Compared({0, 0, 0}, {1, 2, 3}).acceptable);
  EXPECT_FALSE(Compared({0, 0, 0}, {1e-30, 2e-30, 3e-30}).acceptable);
  EXPECT_FALSE(Compare(Values(100, 0.0), Values(100, 4e-6), Tolerance(0.5, 0.5), "O").acceptable);
}

TEST(Comparison, OnlyZerosMatchAReferenceOfZeros) {
  EXPECT_TRUE(Compared({0, -0.0, 0}, {0, 0, 0}).acceptable);
  const Difference d = Compared({0, 1e-300, 0}, {0, 0, 0});
  EXPECT_FALSE(d.acceptable);
  EXPECT_THAT(d.message, HasSubstr("at 1"));
}

TEST(Comparison, NotANumberIsWrongBeforeAnyTolerance) {
  const OutputCheck anything = Tolerance(kInfinity, kInfinity);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const Difference d = Compare({1, bad, 3, bad}, {1, 2, 3, 4}, anything, "O");
    EXPECT_FALSE(d.acceptable) << bad;
    EXPECT_TRUE(std::isnan(d.l2));
    EXPECT_EQ(d.message, fmt::format("O: 2 of 4 elements are not finite, the first at 1: {:g}, not 2", bad));
  }
}

TEST(Comparison, SaysOfAnElementThatWasNotWrittenThatItWasNot) {
  const auto message = [](double value, const OutputCheck& check, bool as_before) {
    return Compare({1, value, 3}, {1, 2, 3}, check, "O", {}, as_before ? 1 : 5).message;
  };
  EXPECT_EQ(message(kNan, Tolerance(1e-3, 1e-2), true),
            "O: 1 of 3 elements are not finite, the first at 1: never written, should be 2");
  EXPECT_EQ(message(kInfinity, Tolerance(1e-3, 1e-2), true),
            "O: 1 of 3 elements are not finite, the first at 1: inf as before the launch, not 2");
  EXPECT_THAT(message(1e30, Tolerance(1e-3, 1e-2), true), HasSubstr("at 1: never written, should be 2"));
  EXPECT_THAT(message(0, Tolerance(1e-3, 1e-2), true), HasSubstr("at 1: 0 as before the launch, not 2"));
  EXPECT_THAT(message(1e30, Tolerance(1e-3, 1e-2), false), HasSubstr("at 1: 1e+30, not 2"));
  EXPECT_EQ(message(-7, Exact(), true), "O[1]: never written, should be 2");
  EXPECT_EQ(message(-7, Exact(), false), "O[1] is -7, not 2");
  EXPECT_EQ(message(0, Exact(), true), "O[1] is 0 as before the launch, not 2");
}

TEST(Comparison, SaysWhereTheAnswerIsNotFinite) {
  EXPECT_EQ(Compared({1, 5}, {1, kInfinity}).message,
            "O: 1 of 2 elements differ where the answer is not finite, the first at 1: 5, not inf");
}

TEST(Comparison, WhereTheReferenceIsNotFiniteTheOutputIsTheSame) {
  EXPECT_TRUE(Compared({1, kInfinity, -kInfinity, kNan}, {1, kInfinity, -kInfinity, kNan}).acceptable);
  EXPECT_FALSE(Compared({1, -kInfinity}, {1, kInfinity}).acceptable);
  EXPECT_FALSE(Compared({1, kNan}, {1, kInfinity}).acceptable);
  EXPECT_FALSE(Compared({1, 1e308}, {1, kInfinity}).acceptable);
  EXPECT_FALSE(Compared({1, 0}, {1, kNan}).acceptable);
}

TEST(Comparison, ExactMeansExact) {
  EXPECT_TRUE(Compare({1, 2, 3}, {1, 2, 3}, Exact(), "index").acceptable);
  const Difference d = Compare({1, 2, 4}, {1, 2, 3}, Exact(), "index");
  EXPECT_FALSE(d.acceptable);
  EXPECT_EQ(d.message, "index[2] is 4, not 3");
  EXPECT_FALSE(Compare({std::nextafter(1.0, 2.0)}, {1}, Exact(), "index").acceptable);
  EXPECT_FALSE(Compare({kNan}, {1}, Exact(), "index").acceptable);
}

TEST(Comparison, HugeValuesDoNotOverflowIntoAcceptance) { EXPECT_FALSE(Compared({1e200, 5e200}, {1e200, 2e200}).acceptable); }

TEST(Comparison, RatioIsTheLargerErrorOverItsBound) {
  const Difference d = Compare({3, 4.5, 0, 0}, {3, 4, 0, 0}, Tolerance(0.2, 1), "O");
  EXPECT_TRUE(d.acceptable);
  EXPECT_DOUBLE_EQ(d.ratio, 0.5);  // L2: 0.1 of 0.2; largest: 0.2 of 1
  EXPECT_EQ(Compare({kNan, 0}, {1, 0}, Tolerance(0.2, 1), "O").ratio, kInfinity);
  EXPECT_EQ(Compare({2}, {1}, Exact(), "O").ratio, kInfinity);
}

TEST(Comparison, WhereSumsCancelErrorsAreRelativeToTheSumOfMagnitudes) {
  const Values reference{1e-6, -1e-6}, output{2e-6, -1e-6};
  EXPECT_FALSE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O").acceptable);
  EXPECT_TRUE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O", {.scale = 1}).acceptable);
  EXPECT_FALSE(Compare({1, -1e-6}, reference, Tolerance(1e-3, 1e-2), "O", {.scale = 1}).acceptable);
}

TEST(Comparison, AnAllowanceNeverTightensTheCheck) {
  const Values reference{1, 1}, output{1.05, 1};
  EXPECT_FALSE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O").acceptable);
  EXPECT_TRUE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O", {.l2 = 0.05, .max = 0.06}).acceptable);
  EXPECT_TRUE(Compare(output, reference, Tolerance(0.1, 0.1), "O", {.l2 = 1e-6, .max = 1e-6}).acceptable);
}

TEST(Comparison, TheLargestErrorMayGrowWithTheLargestElement) {
  Values reference(10000, 0.0), output(10000, 0.0);
  reference[7] = 1;
  output[7] = 1.0005;  // a relative error of 5e-4 in the only element is 0.05 of the rms
  EXPECT_FALSE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O").acceptable);
  EXPECT_TRUE(Compare(output, reference, Tolerance(1e-3, 1e-2), "O", {.largest = 1}).acceptable);
}

TEST(Comparison, NoAllowanceExcusesWhatIsNotFinite) {
  EXPECT_FALSE(Compare({kInfinity, 1}, {1, 1}, Tolerance(1e-3, 1e-2), "O", {.scale = 1e30, .l2 = 1e9, .max = 1e9}).acceptable);
}

}  // namespace
}  // namespace evo
