#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/half.h"
#include "evaluator/device/cpu/cpu_device.h"
#include "evaluator/gate/comparison.h"
#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

OutputCheck Tolerance(double l2, double max) { return {OutputCheck::Kind::kTolerance, l2, max}; }
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Comparison, IsRelativeToTheReferencesOwnScale) {
  EXPECT_TRUE(Compare({1.0005, 2}, {1, 2}, Tolerance(1e-3, 1e-3), "O").acceptable);
  // Zeros are close to tiny values in absolute terms, and still wrong.
  const Difference zeros = Compare({0, 0}, {1e-9, -1e-9}, Tolerance(1e-3, 1e-3), "O");
  EXPECT_FALSE(zeros.acceptable);
  EXPECT_DOUBLE_EQ(zeros.l2, 1);
  EXPECT_FALSE(Compare({1, 1, 1, 1.1}, {1, 1, 1, 1}, Tolerance(1, 0.05), "O").acceptable);
}

TEST(Comparison, WantsFiniteBeforeAnyTolerance) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    const Difference difference = Compare({1, bad}, {1, 2}, Tolerance(1e9, 1e9), "O");
    EXPECT_FALSE(difference.acceptable);
    EXPECT_THAT(difference.message, HasSubstr("O: 1 of 2 elements are not finite or were never written, the first at 1"));
  }
  EXPECT_TRUE(Compare({1, kInfinity}, {1, kInfinity}, Tolerance(1e-3, 1e-3), "O").acceptable);
  EXPECT_FALSE(Compare({1, -kInfinity}, {1, kInfinity}, Tolerance(1e-3, 1e-3), "O").acceptable);
}

TEST(Comparison, AnAllZeroReferenceTakesOnlyZeros) {
  EXPECT_TRUE(Compare({0, 0}, {0, 0}, Tolerance(1e-3, 1e-3), "O").acceptable);
  EXPECT_FALSE(Compare({0, 1e-30}, {0, 0}, Tolerance(1e-3, 1e-3), "O").acceptable);
}

TEST(Comparison, ExactMeansEveryElement) {
  const OutputCheck exact{OutputCheck::Kind::kExact, 0, 0};
  EXPECT_TRUE(Compare({1, 2}, {1, 2}, exact, "O").acceptable);
  EXPECT_EQ(Compare({1, 3}, {1, 2}, exact, "O").message, "O[1] is 3, not 2");
}

TEST(InputGenerator, SameSeedSameBytesOtherSeedOthers) {
  const Generator normal{Generator::Kind::kNormal, 0, 1, Expression::Parse("1"), "normal"};
  const auto draw = [&](std::uint64_t seed) { return GenerateInput(normal, Dtype::kF32, 1000, 10, {}, seed); };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  double sum = 0, squares = 0;
  for (const double v : ToDoubles(draw(3), Dtype::kF32)) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
}

TEST(InputGenerator, KeepsEachKindsPromise) {
  const auto draw = [](Generator::Kind kind, double a, double b, const char* bound, Dtype dtype) {
    return ToDoubles(GenerateInput({kind, a, b, Expression::Parse(bound), ""}, dtype, 24, 6, {}, 5), dtype);
  };
  for (const double v : draw(Generator::Kind::kUniform, 2, 3, "1", Dtype::kF64)) EXPECT_TRUE(v >= 2 && v < 3);
  for (const double v : draw(Generator::Kind::kConstant, 0.5, 0, "1", Dtype::kBF16)) EXPECT_EQ(v, 0.5);
  for (const double v : draw(Generator::Kind::kIndex, 0, 0, "7", Dtype::kI32)) EXPECT_TRUE(v >= 0 && v < 7 && v == std::floor(v));
  std::vector<double> permutation = draw(Generator::Kind::kPermutation, 0, 0, "1", Dtype::kI64);
  std::sort(permutation.begin(), permutation.end());
  for (int i = 0; i < 24; ++i) EXPECT_EQ(permutation[i], i);
  const std::vector<double> hot = draw(Generator::Kind::kOneHot, 0, 0, "1", Dtype::kF16);
  for (int row = 0; row < 4; ++row) EXPECT_EQ(std::count(hot.begin() + 6 * row, hot.begin() + 6 * row + 6, 1.0), 1);
  const std::vector<double> offsets = draw(Generator::Kind::kOffsets, 0, 0, "50", Dtype::kI32);
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), 50);
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(ToHalfBits(1.0f), 0x3c00);
  EXPECT_EQ(ToHalfBits(1.0f + 0x1p-11f), 0x3c00);          // a tie, to even
  EXPECT_EQ(ToHalfBits(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(FromHalfBits(0x0001), 0x1p-24f);
  EXPECT_TRUE(std::isinf(FromHalfBits(ToHalfBits(70000.0f))));
  EXPECT_EQ(ToBFloat16Bits(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(FromBFloat16Bits(0x4049), 3.140625f);
  EXPECT_TRUE(std::isnan(FromBFloat16Bits(ToBFloat16Bits(std::nanf("")))));
}

TEST(GuardedBuffer, SeesAWriteOnEitherSide) {
  const auto device = MakeCpuDevice();
  const std::vector<std::byte> contents(100, std::byte{7});
  for (const int offset : {-1, 0, 99, 100}) {
    GuardedBuffer buffer(device->memory(), 100, 3);
    ASSERT_TRUE(buffer.ok());
    ASSERT_TRUE(buffer.Reset(&contents).ok());
    EXPECT_TRUE(buffer.Read().guards_intact);
    auto* byte = reinterpret_cast<unsigned char*>(buffer.address() + static_cast<Address>(offset));
    *byte = static_cast<unsigned char>(~*byte);
    EXPECT_EQ(buffer.Read().guards_intact, offset >= 0 && offset < 100) << offset;
  }
}

}  // namespace
}  // namespace evo
