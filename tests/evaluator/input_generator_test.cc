#include "evaluator/gate/input_generator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/digest.h"
#include "core/error.h"
#include "core/half.h"
#include "evaluator/device/scalar_bytes.h"
#include "evaluator/gate/input_set.h"
#include "kernel_templates/generator.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Lt;

constexpr std::int64_t kCount = 20'000;
const Variables kSizes = {{"V", Number::Integer(50)}};

std::vector<double> Generated(const std::string& generator, Dtype dtype, std::int64_t count = kCount, std::int64_t row = 1,
                              std::uint64_t seed = 1) {
  return ToDoubles(GenerateInput(ParseGenerator(generator), dtype, count, row, kSizes, seed), dtype);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Deviation(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Each range of so many has a stream of its own, whoever draws it.
TEST(InputGenerator, ManyElementsAreDrawnInRanges) {
  constexpr std::int64_t kMany = 3 * 65'536 + 5;
  for (const std::string text : {"normal", "uniform(-1,1)", "cauchy(2)", "log_uniform(1,8)"}) {
    const std::vector<double> values = Generated(text, Dtype::kF64, kMany, 1, 5);
    EXPECT_EQ(values, Generated(text, Dtype::kF64, kMany, 1, 5)) << text;
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), values.size()) << text;
  }
  const std::vector<double> normal = Generated("normal(3,2)", Dtype::kF32, kMany);
  EXPECT_NEAR(Mean(normal), 3, 0.03);
  EXPECT_NEAR(Deviation(normal), 2, 0.03);
}

// What a seed draws must not change: databases have inputs that a kernel was wrong on by their seeds.
TEST(InputGenerator, TheBytesOfASeedAreFixed) {
  const auto digest = [](const std::string& text, Dtype dtype, std::int64_t count) {
    const std::vector<std::byte> bytes = GenerateInput(ParseGenerator(text), dtype, count, 97, kSizes, 77);
    return Digest(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())).substr(0, 16);
  };
  EXPECT_EQ(digest("normal", Dtype::kF32, 1'000'003), "4ff949b5ff8c6455");
  EXPECT_EQ(digest("normal(1,1)", Dtype::kF16, 65'537), "161e0fee03f4c9be");
  EXPECT_EQ(digest("normal(0,0.05)", Dtype::kBF16, 1'001), "b68878c75bee5be8");
  EXPECT_EQ(digest("uniform(-1,1)", Dtype::kF32, 1'000'003), "257d59f6021b1678");
  EXPECT_EQ(digest("sparse(0.2)", Dtype::kF16, 65'537), "6038a29c935a94e9");
  EXPECT_EQ(digest("one_hot", Dtype::kF32, 1'001), "c96d4ad76afe222a");
  EXPECT_EQ(digest("cauchy(2)", Dtype::kF32, 65'537), "a3b32079a96f2629");
}

// Each is drawn into its place; the numbers are those that are drawn first and rounded then.
TEST(InputGenerator, WhatIsStoredAtOnceIsWhatDrawnValuesAreRoundedTo) {
  for (const std::string text : {"normal(1,2)", "uniform(-1,1)", "constant(0.5)", "sparse(0.2)", "log_uniform(1e-3,1e3)",
                                 "cauchy(2)", "one_hot", "index<V", "permutation", "offsets<V"}) {
    const Generator generator = ParseGenerator(text);
    for (const Dtype dtype : {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16, Dtype::kI32}) {
      if (!Fits(generator.kind, dtype)) continue;
      for (const std::int64_t count : {1, 4097, 2 * 65'536 + 3}) {
        Rng rng(6);
        const auto values = DrawValues(generator, static_cast<std::size_t>(count), 97, kSizes, rng);
        std::vector<std::byte> used(1000, std::byte{7});
        EXPECT_EQ(GenerateInput(generator, dtype, count, 97, kSizes, 6, std::move(used)), FromDoubles(values, dtype))
            << text << ", " << ToString(dtype) << ", " << count;
      }
    }
  }
}

TEST(InputGenerator, ArgumentsAreDrawnInTheirPlaces) {
  const auto draw = [](std::size_t i) {
    if (i == 4) throw Error("the fifth");
    return std::vector<std::byte>(i + 1);
  };
  const auto drawn = DrawSideBySide({100'000, 10, std::nullopt, 70'000}, draw);
  ASSERT_EQ(drawn.size(), 4U);
  EXPECT_THAT((std::vector{drawn[0].size(), drawn[1].size(), drawn[2].size(), drawn[3].size()}), ElementsAre(1U, 2U, 0U, 4U));
  EXPECT_THROW(DrawSideBySide({1, 1, 1, 1, 1}, draw), Error);
  EXPECT_THROW(DrawSideBySide({1, 1, 1, 1, 100'000}, draw), Error);
}

TEST(InputGenerator, SameSeedSameBytes) {
  for (const std::string text : {"normal", "uniform(-1,1)", "sparse(0.1)"}) {
    const Generator generator = ParseGenerator(text);
    EXPECT_EQ(GenerateInput(generator, Dtype::kF16, 1000, 10, kSizes, 5),
              GenerateInput(generator, Dtype::kF16, 1000, 10, kSizes, 5))
        << text;
    EXPECT_NE(GenerateInput(generator, Dtype::kF16, 1000, 10, kSizes, 5),
              GenerateInput(generator, Dtype::kF16, 1000, 10, kSizes, 6))
        << text;
  }
  for (const std::string text : {"index<V", "permutation", "offsets<V", "one_hot"}) {
    EXPECT_EQ(Generated(text, Dtype::kI32, 1000, 10, 5), Generated(text, Dtype::kI32, 1000, 10, 5)) << text;
    EXPECT_NE(Generated(text, Dtype::kI32, 1000, 10, 5), Generated(text, Dtype::kI32, 1000, 10, 6)) << text;
  }
}

TEST(InputGenerator, Normal) {
  const std::vector<double> values = Generated("normal", Dtype::kF32);
  EXPECT_NEAR(Mean(values), 0, 0.03);
  EXPECT_NEAR(Deviation(values), 1, 0.03);
  EXPECT_THAT(values, Each(AllOf(Ge(-7.0), Le(7.0))));
  EXPECT_NEAR(Mean(Generated("normal(3,0.5)", Dtype::kF64)), 3, 0.02);
  EXPECT_NEAR(Deviation(Generated("normal(3,0.5)", Dtype::kF64)), 0.5, 0.02);
  // 68.3% within one deviation, 95.4% within two.
  const auto within = [&](double reach) {
    return std::count_if(values.begin(), values.end(), [&](double v) { return std::abs(v) < reach; });
  };
  EXPECT_NEAR(static_cast<double>(within(1)) / kCount, 0.683, 0.015);
  EXPECT_NEAR(static_cast<double>(within(2)) / kCount, 0.954, 0.01);
}

TEST(InputGenerator, Uniform) {
  const std::vector<double> values = Generated("uniform(-2,6)", Dtype::kF64);
  EXPECT_THAT(values, Each(AllOf(Ge(-2.0), Lt(6.0))));
  EXPECT_NEAR(Mean(values), 2, 0.06);
  EXPECT_NEAR(Deviation(values), 8 / std::sqrt(12), 0.05);
}

TEST(InputGenerator, Constant) {
  EXPECT_THAT(Generated("constant(1.5)", Dtype::kBF16, 7), AllOf(::testing::SizeIs(7), Each(1.5)));
  EXPECT_THAT(Generated("constant(-3)", Dtype::kI8, 3), Each(-3.0));
}

TEST(InputGenerator, OneHotHasOneInEveryRow) {
  const std::vector<double> values = Generated("one_hot", Dtype::kF16, 103, 10);  // the last row is of three
  std::set<std::size_t> places;
  for (std::size_t row = 0; row < 103; row += 10) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(row + 10, 103));
    EXPECT_EQ(std::count(begin, end, 1.0), 1);
    EXPECT_EQ(std::count(begin, end, 0.0), end - begin - 1);
    places.insert(static_cast<std::size_t>(std::find(begin, end, 1.0) - begin));
  }
  EXPECT_GT(places.size(), 3U);
}

TEST(InputGenerator, SparseIsMostlyZero) {
  const std::vector<double> values = Generated("sparse(0.1)", Dtype::kF32);
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 0.0)) / kCount, 0.9, 0.01);
}

TEST(InputGenerator, LogUniformSpreadsMagnitudesEvenly) {
  const std::vector<double> values = Generated("log_uniform(1e-3,1e3)", Dtype::kF64);
  for (const double v : values) ASSERT_TRUE(std::abs(v) >= 0.999e-3 && std::abs(v) < 1.001e3) << v;
  EXPECT_NEAR(static_cast<double>(std::count_if(values.begin(), values.end(), [](double v) { return v > 0; })) / kCount, 0.5,
              0.02);
  EXPECT_NEAR(static_cast<double>(std::count_if(values.begin(), values.end(), [](double v) { return std::abs(v) < 1; })) / kCount,
              0.5, 0.02);
}

// Half of the values of a Cauchy distribution lie within its scale, and one in sixteen beyond ten times of it.
TEST(InputGenerator, CauchyHasHeavyTails) {
  const std::vector<double> values = Generated("cauchy(2)", Dtype::kF64);
  const auto within = [&](double reach) {
    return static_cast<double>(std::count_if(values.begin(), values.end(), [&](double v) { return std::abs(v) < reach; })) /
           kCount;
  };
  EXPECT_NEAR(within(2), 0.5, 0.02);
  EXPECT_NEAR(within(20), 0.9365, 0.01);
}

TEST(InputGenerator, IndexStaysUnderItsBound) {
  const std::vector<double> values = Generated("index<V * 2", Dtype::kI64);
  EXPECT_THAT(values, Each(AllOf(Ge(0.0), Lt(100.0))));
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 100U);
  EXPECT_THROW(Generated("index<V - 50", Dtype::kI32), Error);
}

TEST(InputGenerator, PermutationHasEachOnce) {
  std::vector<double> values = Generated("permutation", Dtype::kI32, 1000);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<double>(i));
}

TEST(InputGenerator, OffsetsAscendFromZeroToTheBound) {
  const std::vector<double> values = Generated("offsets<V", Dtype::kI32, 20);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values.back(), 50);
  EXPECT_THROW(Generated("offsets<V - 51", Dtype::kI32), Error);
}

TEST(InputGenerator, RefusesWhatTheTypeCannotHold) {
  EXPECT_THROW(Generated("normal", Dtype::kI32), Error);
  EXPECT_THROW(Generated("uniform(0,9)", Dtype::kU8), Error);
  EXPECT_THROW(Generated("permutation", Dtype::kF32), Error);
  EXPECT_THROW(Generated("index<300", Dtype::kU8), Error);
  EXPECT_THROW(Generated("permutation", Dtype::kI8, 129), Error);
  EXPECT_THROW(Generated("constant(-1)", Dtype::kU64), Error);
  EXPECT_THROW(Generated("constant(70000)", Dtype::kI16), Error);
  EXPECT_NO_THROW(Generated("index<256", Dtype::kU8));
  EXPECT_NO_THROW(Generated("permutation", Dtype::kI8, 128));
}

TEST(InputGenerator, EveryTypeComesBack) {
  for (const Dtype dtype : {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16, Dtype::kI64, Dtype::kI32, Dtype::kI16,
                            Dtype::kI8, Dtype::kU64, Dtype::kU32, Dtype::kU16, Dtype::kU8}) {
    EXPECT_THAT(Generated("constant(101)", dtype, 3), ElementsAre(101, 101, 101)) << ToString(dtype);
    EXPECT_EQ(GenerateInput(ParseGenerator("constant(1)"), dtype, 3, 1, kSizes, 1).size(), 3 * ByteSize(dtype));
  }
}

// Values from IEEE 754's definition of binary16: 11 significant bits, largest 65504, smallest 2^-24.
TEST(Rounding, ToHalf) {
  EXPECT_EQ(ToHalfBits(0.0F), 0x0000);
  EXPECT_EQ(ToHalfBits(-0.0F), 0x8000);
  EXPECT_EQ(ToHalfBits(1.0F), 0x3c00);
  EXPECT_EQ(ToHalfBits(-2.0F), 0xc000);
  EXPECT_EQ(ToHalfBits(0.1F), 0x2e66);
  EXPECT_EQ(ToHalfBits(65504.0F), 0x7bff);
  EXPECT_EQ(ToHalfBits(65519.0F), 0x7bff);
  EXPECT_EQ(ToHalfBits(65520.0F), 0x7c00) << "half way to 2^16: infinity";
  EXPECT_EQ(ToHalfBits(1e10F), 0x7c00);
  EXPECT_EQ(ToHalfBits(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(ToHalfBits(0x1p-24F), 0x0001);
  EXPECT_EQ(ToHalfBits(0x1p-25F), 0x0000) << "a tie goes to even";
  EXPECT_EQ(ToHalfBits(0x1.8p-25F), 0x0001);
  EXPECT_EQ(ToHalfBits(1 + 0x1p-11F), 0x3c00) << "a tie goes to even, down";
  EXPECT_EQ(ToHalfBits(1 + 0x1.8p-10F), 0x3c02) << "and up";
  EXPECT_EQ(ToHalfBits(0x1.ffcp-15F), 0x0400) << "rounded up out of the subnormals";
  EXPECT_TRUE(std::isnan(FromHalfBits(ToHalfBits(std::numeric_limits<float>::quiet_NaN()))));
}

// The compiler's own conversion to a type of 16 bits is the other way to do it.
TEST(Rounding, ToHalfIsTheCompilersConversion) {
  Rng rng(3);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t exponent = 1023 - 30 + rng.Below(60);
    const std::uint64_t digits = rng.Next() >> 12;
    const std::uint64_t tie = digits >> 41 << 41;  // often half way between two
    const std::uint64_t bits =
        (rng.Next() >> 63 << 63) | (exponent << 52) | (i % 2 == 0 ? digits : tie + (rng.Below(3) - 1)) % (1ULL << 52);
    const double value = std::bit_cast<double>(bits);
    ASSERT_EQ(ToHalfBits(value), std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << fmt::format("{:a}", value);
  }
}

TEST(Rounding, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = FromHalfBits(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(std::isnan(value) || ToHalfBits(value) == bits) << bits;
  }
}

// A value just above a tie of the narrow type lies on the tie once it is a float, and would then round the other way.
TEST(Rounding, AnInputAndAScalarOfOneValueHaveTheSameBits) {
  constexpr double kBelowFloat = 0x1p-40;  // too small to change a float near 1
  const std::vector<double> values = {1 + 0x1p-11 + kBelowFloat,
                                      -(1 + 0x1p-11 + kBelowFloat),
                                      1 + 0x1.8p-10 - kBelowFloat,
                                      1 + 0x1p-8 + kBelowFloat,
                                      1 + 0x1.8p-7 - kBelowFloat,
                                      0x1p-25 + 0x1p-60,
                                      65520 - 0x1p-30,
                                      0.1};
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32}) {
    for (const double value : values) {
      const std::vector<std::byte> input = FromDoubles({value}, dtype);
      const auto scalar = ToBytes({dtype, Number::Real(value)});
      ASSERT_TRUE(scalar);
      EXPECT_TRUE(std::equal(input.begin(), input.end(), scalar->bytes.begin()))
          << ToString(dtype) << " of " << fmt::format("{:a}", value);
    }
  }
  EXPECT_EQ(ToDoubles(FromDoubles({1 + 0x1p-11 + kBelowFloat}, Dtype::kF16), Dtype::kF16).front(), 1 + 0x1p-10);
  EXPECT_EQ(ToDoubles(FromDoubles({1 + 0x1p-8 + kBelowFloat}, Dtype::kBF16), Dtype::kBF16).front(), 1 + 0x1p-7);
}

TEST(Rounding, ToBFloat16) {
  EXPECT_EQ(ToBFloat16Bits(1.0F), 0x3f80);
  EXPECT_EQ(ToBFloat16Bits(-2.0F), 0xc000);
  EXPECT_EQ(ToBFloat16Bits(0.1F), 0x3dcd);
  EXPECT_EQ(ToBFloat16Bits(1 + 0x1p-8F), 0x3f80) << "a tie goes to even, down";
  EXPECT_EQ(ToBFloat16Bits(1 + 0x1.8p-7F), 0x3f82) << "and up";
  EXPECT_EQ(ToBFloat16Bits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(FromBFloat16Bits(ToBFloat16Bits(std::numeric_limits<float>::quiet_NaN()))));
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = FromBFloat16Bits(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(std::isnan(value) || ToBFloat16Bits(value) == bits) << bits;
  }
}

}  // namespace
}  // namespace evo
