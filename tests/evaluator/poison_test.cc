#include "evaluator/gate/poison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "core/half.h"

namespace evo {
namespace {

constexpr PoisonKind kAll[] = {PoisonKind::kNan,  PoisonKind::kInfinity, PoisonKind::kNegativeInfinity, PoisonKind::kLarge,
                               PoisonKind::kZero, PoisonKind::kRandom,   PoisonKind::kOtherAnswer};

template <typename T>
std::vector<T> Filled(PoisonKind kind, Dtype dtype, std::uint64_t seed = 1) {
  std::vector<T> values(13);
  FillHere({reinterpret_cast<std::uint64_t>(values.data()), values.size() * sizeof(T), PatternOf(kind, dtype, seed)});
  return values;
}

TEST(PatternOf, IsTheSameInEveryElementOfAFloat) {
  for (const float value : Filled<float>(PoisonKind::kNan, Dtype::kF32)) EXPECT_TRUE(std::isnan(value));
  for (const float value : Filled<float>(PoisonKind::kInfinity, Dtype::kF32)) EXPECT_EQ(value, INFINITY);
  for (const float value : Filled<float>(PoisonKind::kNegativeInfinity, Dtype::kF32)) EXPECT_EQ(value, -INFINITY);
  for (const float value : Filled<float>(PoisonKind::kLarge, Dtype::kF32)) EXPECT_TRUE(std::isfinite(value) && value > 1e38f);
  for (const float value : Filled<float>(PoisonKind::kZero, Dtype::kF32)) EXPECT_EQ(value, 0);
}

TEST(PatternOf, FitsEveryWidth) {
  for (const double value : Filled<double>(PoisonKind::kInfinity, Dtype::kF64)) EXPECT_EQ(value, INFINITY);
  for (const double value : Filled<double>(PoisonKind::kLarge, Dtype::kF64)) EXPECT_TRUE(std::isfinite(value) && value > 1e300);
  for (const auto bits : Filled<std::uint16_t>(PoisonKind::kNegativeInfinity, Dtype::kF16))
    EXPECT_EQ(FromHalfBits(bits), -INFINITY);
  for (const auto bits : Filled<std::uint16_t>(PoisonKind::kLarge, Dtype::kF16))
    EXPECT_TRUE(std::isfinite(FromHalfBits(bits)) && FromHalfBits(bits) > 5e4f);
  for (const auto bits : Filled<std::uint16_t>(PoisonKind::kInfinity, Dtype::kBF16)) EXPECT_EQ(FromBFloat16Bits(bits), INFINITY);
  for (const auto value : Filled<std::int32_t>(PoisonKind::kInfinity, Dtype::kI32)) EXPECT_EQ(value, INT32_MAX);
  for (const auto value : Filled<std::int8_t>(PoisonKind::kNegativeInfinity, Dtype::kI8)) EXPECT_EQ(value, INT8_MIN);
}

TEST(PatternOf, RandomBitsFollowFromTheSeed) {
  EXPECT_EQ(Filled<std::uint32_t>(PoisonKind::kRandom, Dtype::kU32, 1),
            Filled<std::uint32_t>(PoisonKind::kRandom, Dtype::kU32, 1));
  EXPECT_NE(Filled<std::uint32_t>(PoisonKind::kRandom, Dtype::kU32, 1),
            Filled<std::uint32_t>(PoisonKind::kRandom, Dtype::kU32, 2));
  const auto values = Filled<std::uint32_t>(PoisonKind::kRandom, Dtype::kU32);
  EXPECT_GT(std::set<std::uint32_t>(values.begin(), values.end()).size(), 10U);
}

TEST(FillHere, WritesAnAnswerInItsDtype) {
  const std::vector<double> answer = {1.5, -2, 300, 0.1};
  const auto filled = [&]<typename T>(T, Dtype dtype) {
    std::vector<T> values(answer.size());
    FillHere({reinterpret_cast<std::uint64_t>(values.data()),
              values.size() * sizeof(T),
              {},
              reinterpret_cast<std::uint64_t>(answer.data()),
              dtype});
    return values;
  };
  EXPECT_EQ(filled(0.0f, Dtype::kF32), (std::vector<float>{1.5, -2, 300, 0.1f}));
  EXPECT_EQ(filled(std::int32_t{}, Dtype::kI32), (std::vector<std::int32_t>{1, -2, 300, 0}));
  EXPECT_EQ(filled(std::uint8_t{}, Dtype::kU8), (std::vector<std::uint8_t>{1, 0, 255, 0}));
  EXPECT_EQ(FromHalfBits(filled(std::uint16_t{}, Dtype::kF16)[1]), -2.0f);
}

TEST(PoisonSequence, NeitherTheNextNorTheSecondNextRunHasTheSamePoison) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PoisonSequence sequence(seed);
    std::vector<Poison> drawn;
    std::set<PoisonKind> outputs;
    for (int i = 0; i < 100; ++i) {
      drawn.push_back(i % 10 == 0 ? sequence.First() : sequence.Next());
      outputs.insert(drawn.back().outputs);
      for (std::size_t back = 1; back <= 2 && back < drawn.size(); ++back) {
        const Poison& before = drawn[drawn.size() - 1 - back];
        EXPECT_NE(drawn.back().workspaces, before.workspaces);
        EXPECT_NE(drawn.back().scrubbed, before.scrubbed);
        if (back == 1) {
          EXPECT_NE(drawn.back().outputs, before.outputs);
        }
        EXPECT_NE(drawn.back().seed, before.seed);
      }
    }
    EXPECT_EQ(outputs.size(), std::size(kAll));
  }
}

TEST(PoisonSequence, TwoRunsOfACheckMeetAPoisonThatIsNotFiniteAndOneThatIs) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PoisonSequence sequence(seed);
    for (int check = 0; check < 5; ++check) {
      EXPECT_LE(sequence.First().outputs, PoisonKind::kNegativeInfinity);
      EXPECT_GT(sequence.Next().outputs, PoisonKind::kNegativeInfinity);
    }
  }
}

}  // namespace
}  // namespace evo
