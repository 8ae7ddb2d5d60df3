#include "kernel_templates/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/half.h"
#include "core/rng.h"

namespace evo {
namespace {

const Variables kSizes{{"K", Number::Integer(2048)}};

ErrorSources SumOfK() {
  ErrorSources sources;
  sources.sum = Expression::Parse("K");
  return sources;
}

TEST(Tolerance, GrowsWithTheRootOfTheLength) {
  const double one = DeriveTolerance({}, Dtype::kF32, kSizes).l2;
  const double many = DeriveTolerance(SumOfK(), Dtype::kF32, kSizes).l2;
  EXPECT_NEAR(many, 6 * std::ldexp(1, -24) * std::sqrt(1.0 / 3 + 2048.0 / 6), 1e-12);
  EXPECT_GT(many, 20 * one);
}

// Sums K terms of random sign one after another, in fp32 as an honest kernel does and in fp16.
double RelativeError(bool in_half) {
  Rng rng(7);
  double squares = 0;
  double scale = 0;
  for (int row = 0; row < 200; ++row) {
    float narrow = 0;
    double exact = 0;
    for (int k = 0; k < 2048; ++k) {
      const auto term = static_cast<float>(rng.Uniform() * 2 - 1);
      exact += term;
      narrow += term;
      if (in_half) narrow = FromHalfBits(ToHalfBits(narrow));
    }
    squares += (narrow - exact) * (narrow - exact);
    scale += exact * exact;
  }
  return std::sqrt(squares / scale);
}

TEST(Tolerance, PassesAnHonestSumAndFailsOneInANarrowerType) {
  const double bound = DeriveTolerance(SumOfK(), Dtype::kF32, kSizes).l2;
  EXPECT_LT(RelativeError(false), bound / 2);
  EXPECT_GT(RelativeError(true), 20 * bound);
  ErrorSources rounded = SumOfK();
  rounded.rounded = {Dtype::kF16};
  EXPECT_GT(RelativeError(true), DeriveTolerance(rounded, Dtype::kF16, kSizes).l2)
      << "also where values are rounded to fp16 before and after";
}

TEST(Tolerance, TheLargestErrorGoesWithTheLargestElement) {
  ErrorSources sources = SumOfK();
  const Tolerance usual = DeriveTolerance(sources, Dtype::kF32, kSizes);
  EXPECT_DOUBLE_EQ(usual.max, 6 * usual.l2);
  sources.peak = Expression::Parse("sqrt(K)");
  EXPECT_NEAR(DeriveTolerance(sources, Dtype::kF32, kSizes).max, std::sqrt(2048.0) * usual.l2, 1e-12);
}

TEST(Tolerance, FunctionsAddTheirUnitsInTheLastPlace) {
  ErrorSources sources;
  sources.ulps = 64;
  EXPECT_NEAR(DeriveTolerance(sources, Dtype::kF32, kSizes).l2, 6 * 64 * std::ldexp(1, -23), 1e-8);
}

TEST(Tolerance, ASumOfNoTermsIsAnError) {
  ErrorSources sources;
  sources.sum = Expression::Parse("K - 2048");
  EXPECT_THROW(DeriveTolerance(sources, Dtype::kF32, kSizes), Error);
}

}  // namespace
}  // namespace evo
