#include "mutators/analysis/numbers/integer_arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

namespace evo {
namespace {

TEST(IntegerArithmetic, FitsNumbersToTypes) {
  EXPECT_EQ(NumberType("int").Fit(std::int64_t{1} << 31), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(NumberType("unsigned int").Fit(-1), 0xffffffff);
  EXPECT_EQ(NumberType("short").Fit(40000), -25536);
  EXPECT_EQ(NumberType("unsigned short").Fit(-1), 65535);
  EXPECT_EQ(NumberType("char").Fit(200), -56);
  EXPECT_EQ(NumberType("unsigned char").Fit(300), 44);
  EXPECT_EQ(NumberType("bool").Fit(256), 1);
  EXPECT_EQ(NumberType("long long").Fit(-1), -1);
  EXPECT_EQ(NumberType("float").Fit(std::int64_t{1} << 40), std::int64_t{1} << 40);
}

TEST(IntegerArithmetic, ComputesWhatIsDefined) {
  const auto result = [](const char* spelled, std::int64_t a, std::int64_t b, bool is_unsigned = false) {
    return IntegerOperator(spelled).Result(a, b, is_unsigned);
  };
  EXPECT_EQ(result("+", std::numeric_limits<std::int64_t>::max(), 1), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(result("/", -7, 2), -3);
  EXPECT_EQ(result("%", -7, 2), -1);
  EXPECT_EQ(result("/", -2, 2, true), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(result("/", 7, 0), std::nullopt);
  EXPECT_EQ(result("%", 7, -1), std::nullopt);
  EXPECT_EQ(result("<<", 3, 4), 48);
  EXPECT_EQ(result("<<", 3, 63), std::nullopt);
  EXPECT_EQ(result(">>", -8, 1), -4);
  EXPECT_EQ(result("<", -1, 1), 1);
  EXPECT_EQ(result("<", -1, 1, true), 0);
  EXPECT_EQ(result("!=", 3, 3), 0);
  EXPECT_EQ(result("&&", 1, 1), std::nullopt);
}

TEST(IntegerArithmetic, KnowsComparisons) {
  EXPECT_TRUE(IntegerOperator("<=").compares());
  EXPECT_TRUE(IntegerOperator("<=").Holds(0.5, 0.5));
  EXPECT_FALSE(IntegerOperator("!=").Holds(0.5, 0.5));
  EXPECT_FALSE(IntegerOperator("<<").compares());
}

}  // namespace
}  // namespace evo
