#include "evaluator/device/inspection.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/half.h"

namespace evo {
namespace {

template <typename T>
std::uint64_t At(const std::vector<T>& values) {
  return reinterpret_cast<std::uint64_t>(values.data());
}

template <typename T>
InspectionResult Output(const std::vector<T>& output, const std::vector<double>& reference, Dtype dtype, bool exact = false) {
  return InspectHere({Inspection::Kind::kOutput, At(output), At(reference), output.size() * sizeof(T), dtype, exact});
}

TEST(Inspection, CountsBytesThatDiffer) {
  const std::vector<unsigned char> one{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<unsigned char> other = one;
  EXPECT_EQ(InspectHere({Inspection::Kind::kEqual, At(one), At(other), one.size()}).different, 0u);
  other[3] = other[9] = 0;
  const InspectionResult seen = InspectHere({Inspection::Kind::kEqual, At(one), At(other), one.size()});
  EXPECT_EQ(seen.different, 2u);
  EXPECT_EQ(seen.first, 3u);
}

TEST(Inspection, SumsErrorsOverFiniteReferences) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const InspectionResult seen = Output<float>({1, 2.5f, -4, static_cast<float>(kInfinity)}, {1, 2, -3, kInfinity}, Dtype::kF32);
  EXPECT_EQ(seen.different, 0u);
  EXPECT_DOUBLE_EQ(seen.squares, 0.25 + 1);
  EXPECT_DOUBLE_EQ(seen.reference_squares, 1 + 4 + 9);
  EXPECT_DOUBLE_EQ(seen.largest, 1);
  EXPECT_EQ(seen.worst, 2u);
}

TEST(Inspection, WhatIsNotFiniteIsDifferentAndInNoSum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const InspectionResult seen = Output<float>({nan, 2, 3}, {1, 2, std::nan("")}, Dtype::kF32);
  EXPECT_EQ(seen.different, 2u) << "a number for a NaN is wrong too";
  EXPECT_EQ(seen.first, 0u);
  EXPECT_EQ(seen.squares, 0);
}

TEST(Inspection, ExactlyMeansEqual) {
  const InspectionResult seen = Output<std::int32_t>({1, -2, 3, 4}, {1, -2, 4, 5}, Dtype::kI32, true);
  EXPECT_EQ(seen.different, 2u);
  EXPECT_EQ(seen.first, 2u);
}

TEST(Inspection, ReadsEveryDtype) {
  EXPECT_EQ(Output<std::uint16_t>({ToHalfBits(1.5f), ToHalfBits(-2)}, {1.5, -2}, Dtype::kF16, true).different, 0u);
  EXPECT_EQ(Output<std::uint16_t>({ToBFloat16Bits(1.5f), ToBFloat16Bits(-2)}, {1.5, -2}, Dtype::kBF16, true).different, 0u);
  EXPECT_EQ(Output<std::int8_t>({-7}, {-7}, Dtype::kI8, true).different, 0u);
  EXPECT_EQ(Output<std::uint8_t>({200}, {200}, Dtype::kU8, true).different, 0u);
  EXPECT_EQ(Output<std::uint16_t>({60000}, {60000}, Dtype::kU16, true).different, 0u);
  EXPECT_EQ(Output<std::int64_t>({-5'000'000'000}, {-5e9}, Dtype::kI64, true).different, 0u);
}

TEST(Inspection, HashSeesEveryByteAndItsPlace) {
  std::vector<unsigned char> bytes(37, 5);
  const auto hash = [&] { return InspectHere({Inspection::Kind::kHash, At(bytes), 0, bytes.size()}).hash; };
  const std::uint64_t before = hash();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_NE(hash(), before) << i;
    bytes[i] ^= 1;
  }
  EXPECT_EQ(hash(), before);
  bytes = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
  const std::uint64_t one = hash();
  bytes = {2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_NE(hash(), one);
}

TEST(Inspection, PartsAddUp) {
  InspectionResult whole;
  InspectionResult a;
  a.different = 2;
  a.first = 7;
  a.largest = 3;
  a.worst = 9;
  a.squares = 1;
  InspectionResult b;
  b.different = 1;
  b.first = 4;
  b.largest = 3;
  b.worst = 5;
  b.squares = 2;
  whole.Add(a);
  whole.Add(b);
  EXPECT_EQ(whole.different, 3u);
  EXPECT_EQ(whole.first, 4u);
  EXPECT_EQ(whole.worst, 5u) << "the first of equals";
  EXPECT_EQ(whole.squares, 3);
}

}  // namespace
}  // namespace evo
