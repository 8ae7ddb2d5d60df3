#include "mutators/analysis/block_runs/lane_arithmetic.h"

#include <gmock/gmock.h>

#include <limits>

namespace evo {
namespace {

using testing::ElementsAre;

const LaneMask kBoth{1, 1};

// A known number and an element of a buffer.
LaneValues Values(std::int64_t number, std::int64_t element) {
  LaneValues values(2, number);
  values.numbers[1] = element;
  values.known[1] = Knowledge::kElements;
  return values;
}

LaneResult Combined(const char* spelled, const LaneValues& a, const LaneValues& b, const char* left = "float",
                    const char* right = "float") {
  return CombinedNumbers(spelled, a, b, {left, right}, kBoth);
}

TEST(LaneArithmetic, SumsOfElementsAreKnownAndProductsAreNot) {
  const LaneResult sum = Combined("+", Values(2, 30), Values(5, 7));
  EXPECT_THAT(sum.values.numbers, ElementsAre(7, 37));
  EXPECT_THAT(sum.values.known, ElementsAre(Knowledge::kKnown, Knowledge::kElements));
  EXPECT_FALSE(sum.of_data);
  EXPECT_EQ(Combined("*", Values(2, 30), LaneValues(2, 3)).values.numbers[1], 90);
  const LaneResult product = Combined("*", Values(2, 30), Values(5, 7));
  EXPECT_THAT(product.values.known, ElementsAre(Knowledge::kKnown, Knowledge::kUnknown));
  EXPECT_TRUE(product.of_data);
}

TEST(LaneArithmetic, ComputesAsTheTypesDo) {
  const auto first = [](const LaneResult& result) { return result.values.numbers[0]; };
  const LaneValues largest(2, std::numeric_limits<std::int32_t>::max()), one(2, 1), minus(2, -1), seven(2, 7), two(2, 2);
  EXPECT_EQ(first(Combined("+", largest, one, "int", "int")), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(first(Combined("+", largest, one, "long long", "int")), std::int64_t{1} << 31);
  EXPECT_EQ(first(Combined("<", minus, one, "int", "int")), 1);
  EXPECT_EQ(first(Combined("<", minus, one, "int", "unsigned int")), 0);
  EXPECT_EQ(first(Combined("/", seven, two, "int", "int")), 3);
  EXPECT_EQ(Combined("/", seven, two).values.known[0], Knowledge::kUnknown);
  EXPECT_EQ(Combined("/", seven, LaneValues(2, 0), "int", "int").values.known[0], Knowledge::kUnknown);
}

TEST(LaneArithmetic, MovesAndComparesPointers) {
  LaneValues pointer(2, 4);
  pointer.memory = 3;
  const LaneResult moved = MovedPointers("-", pointer, LaneValues(2, 1));
  EXPECT_TRUE(moved.understood);
  EXPECT_EQ(moved.values.memory, 3);
  EXPECT_THAT(moved.values.numbers, ElementsAre(3, 3));
  EXPECT_THAT(MovedPointers("-", pointer, pointer).values.numbers, ElementsAre(0, 0));
  EXPECT_THAT(MovedPointers("!=", pointer, LaneValues(2, 0)).values.numbers, ElementsAre(1, 1)) << "null";
  LaneValues other = pointer;
  other.memory = 4;
  EXPECT_FALSE(MovedPointers("-", pointer, other).understood);
  EXPECT_FALSE(MovedPointers("*", pointer, LaneValues(2, 1)).understood);
}

TEST(LaneArithmetic, ConversionsKeepElementsOfTheirKind) {
  EXPECT_EQ(ConvertedLanes(Values(2, 30), "float", "const double", kBoth).values.known[1], Knowledge::kElements);
  const LaneResult integers = ConvertedLanes(Values(300, 30), "float", "unsigned char", kBoth);
  EXPECT_EQ(integers.values.numbers[0], 44);
  EXPECT_TRUE(integers.of_data);
  LaneValues pointer(2);
  pointer.memory = 0;
  EXPECT_TRUE(ConvertedLanes(pointer, "float[32]", "const float *", kBoth).understood);
  const LaneResult vectors = ConvertedLanes(pointer, "float[32]", "float4 *", kBoth);
  EXPECT_TRUE(vectors.understood);
  EXPECT_EQ(vectors.values.width, 4);
  EXPECT_FALSE(ConvertedLanes(pointer, "float[32]", "int4 *", kBoth).understood);
  EXPECT_FALSE(ConvertedLanes(pointer, "float[32]", "double *", kBoth).understood);
}

TEST(LaneArithmetic, ShufflesWithinWidths) {
  LaneValues lanes(8);
  for (std::size_t lane = 0; lane < 8; ++lane) lanes.numbers[lane] = static_cast<std::int64_t>(lane);
  const LaneMask all(8, 1);
  const auto numbers = [&](const char* callee, std::int64_t by) {
    return ShuffledLanes(callee, lanes, LaneValues(8, by), LaneValues(8, 4), all).value().numbers;
  };
  EXPECT_THAT(numbers("__shfl_up_sync", 1), ElementsAre(0, 0, 1, 2, 4, 4, 5, 6));
  EXPECT_THAT(numbers("__shfl_down_sync", 2), ElementsAre(2, 3, 2, 3, 6, 7, 6, 7));
  EXPECT_THAT(numbers("__shfl_xor_sync", 1), ElementsAre(1, 0, 3, 2, 5, 4, 7, 6));
  EXPECT_THAT(numbers("__shfl_sync", 1), ElementsAre(1, 1, 1, 1, 5, 5, 5, 5));
  EXPECT_FALSE(ShuffledLanes("__shfl_sync", lanes, LaneValues(8, 1), LaneValues(8, 3), all));
}

}  // namespace
}  // namespace evo
