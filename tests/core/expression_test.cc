#include "core/expression.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "core/error.h"

namespace evo {
namespace {

using testing::ElementsAre;

std::int64_t Integer(const std::string& text, const Variables& variables = {}) {
  return Expression::Parse(text).EvaluateInteger(variables);
}

double Real(const std::string& text, const Variables& variables = {}) {
  const Number value = Expression::Parse(text).Evaluate(variables);
  EXPECT_TRUE(value.is_real) << text;
  return value.real;
}

// The message of the Error that parsing or evaluating throws; empty if it throws none.
std::string Failure(const std::string& text, const Variables& variables = {}) {
  try {
    Expression::Parse(text).Evaluate(variables);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, BindsAsC) {
  EXPECT_EQ(Integer("1 + 2 * 3"), 7);
  EXPECT_EQ(Integer("(1 + 2) * 3"), 9);
  EXPECT_EQ(Integer("10 - 4 - 3"), 3);
  EXPECT_EQ(Integer("100 / 10 / 5"), 2);
  EXPECT_EQ(Integer("1 << 2 + 1"), 8);
  EXPECT_EQ(Integer("1 | 2 ^ 3 & 1"), 1 | (2 ^ (3 & 1)));
  EXPECT_EQ(Integer("4 & 4 == 4"), 4 & 1);
  EXPECT_EQ(Integer("1 < 2 == 1"), 1);
  EXPECT_EQ(Integer("0 && 0 || 1"), 1);
  EXPECT_EQ(Integer("1 || 0 && 0"), 1);
  EXPECT_EQ(Integer("- -3"), 3);
  EXPECT_EQ(Integer("-3 + +4"), 1);
  EXPECT_EQ(Integer("~0 & 0xff"), 255);
  EXPECT_EQ(Integer("!5 + !0"), 1);
  EXPECT_EQ(Integer("1 ? 2 : 0 ? 3 : 4"), 2);
  EXPECT_EQ(Integer("0 ? 2 : 0 ? 3 : 4"), 4);
}

TEST(Expression, TruncatesTowardsZero) {
  EXPECT_EQ(Integer("7 / 2"), 3);
  EXPECT_EQ(Integer("-7 / 2"), -3);
  EXPECT_EQ(Integer("-7 % 2"), -1);
  EXPECT_EQ(Integer("7 % -2"), 1);
  EXPECT_EQ(Integer("-8 >> 1"), -4);
}

TEST(Expression, HasCeilDivMinMaxSqrt) {
  EXPECT_EQ(Integer("ceil_div(512, 64)"), 8);
  EXPECT_EQ(Integer("ceil_div(513, 64)"), 9);
  EXPECT_EQ(Integer("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(Integer("power(2, 0)"), 1);
  EXPECT_EQ(Integer("power(256, 3)"), 16777216);
  EXPECT_EQ(Integer("power(-1, 1000000007)"), -1);
  EXPECT_EQ(Integer("ceil_log(1, 2)"), 0);
  EXPECT_EQ(Integer("ceil_log(0, 2)"), 0);
  EXPECT_EQ(Integer("ceil_log(1024, 2)"), 10);
  EXPECT_EQ(Integer("ceil_log(1025, 2)"), 11);
  EXPECT_EQ(Integer("ceil_log(9223372036854775807, 2)"), 63);
  EXPECT_EQ(Integer("min(3, max(1, 2))"), 2);
  EXPECT_DOUBLE_EQ(Real("sqrt(64)"), 8);
  EXPECT_EQ(Integer("trunc(1000.0 / 3) + 1"), 334);
  EXPECT_EQ(Integer("trunc(-2.5) + trunc(7)"), 5);
  EXPECT_DOUBLE_EQ(Real("1 / sqrt(D)", {{"D", Number::Integer(64)}}), 0.125);
  EXPECT_DOUBLE_EQ(Real("max(1, 2.5)"), 2.5);
}

TEST(Expression, ARealOperandMakesTheResultReal) {
  EXPECT_DOUBLE_EQ(Real("7 / 2.0"), 3.5);
  EXPECT_DOUBLE_EQ(Real("1e-3 * 2"), 2e-3);
  EXPECT_DOUBLE_EQ(Real(".5 + 1"), 1.5);
  EXPECT_EQ(Integer("0.5 < 1"), 1);
  EXPECT_EQ(Integer("!0.5"), 0);
}

TEST(Expression, ReadsVariablesAndNamesThem) {
  const Expression expression = Expression::Parse(" ceil_div(S, BLOCK_M) * min(S, H_2) ");
  EXPECT_THAT(expression.Names(), ElementsAre("BLOCK_M", "H_2", "S"));
  EXPECT_EQ(expression.text(), " ceil_div(S, BLOCK_M) * min(S, H_2) ");
  EXPECT_EQ(
      expression.EvaluateInteger({{"S", Number::Integer(100)}, {"BLOCK_M", Number::Integer(32)}, {"H_2", Number::Integer(5)}}),
      20);
}

TEST(Expression, DoesNotEvaluateWhatItSkips) {
  EXPECT_EQ(Integer("0 && 1 / 0"), 0);
  EXPECT_EQ(Integer("1 || nothing"), 1);
  EXPECT_EQ(Integer("1 ? 5 : 1 / 0"), 5);
  EXPECT_EQ(Integer("0 ? 1 / 0 : 6"), 6);
}

TEST(Expression, OverflowIsAnError) {
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  const std::string least = "(-" + most + " - 1)";
  EXPECT_EQ(Integer(most), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Failure("1 + " + most), "expression '1 + " + most + "', column 3: integer overflow");
  EXPECT_THAT(Failure(least + " - 1"), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure(least + " / -1"), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure(least + " % -1"), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure("-" + least), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure("4294967296 * 4294967296"), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure("1 << 63"), testing::HasSubstr("integer overflow"));
  EXPECT_THAT(Failure("1e308 * 10"), testing::HasSubstr("too large"));
  EXPECT_EQ(Failure("9223372036854775808"),
            "expression '9223372036854775808', column 1: number '9223372036854775808' is too large");
}

TEST(Expression, ErrorsShowTheColumn) {
  EXPECT_EQ(Failure("M / (N - N)", {{"M", Number::Integer(1)}, {"N", Number::Integer(2)}}),
            "expression 'M / (N - N)', column 3: division by zero");
  EXPECT_EQ(Failure("1.0 / 0"), "expression '1.0 / 0', column 5: division by zero");
  EXPECT_EQ(Failure("1 + size"), "expression '1 + size', column 5: nothing is named 'size'");
  EXPECT_EQ(Failure("1 << 64"), "expression '1 << 64', column 3: shift by 64; 0 to 63 is possible");
  EXPECT_EQ(Failure("1.5 % 2"), "expression '1.5 % 2', column 5: '%' takes integers, not a real number");
  EXPECT_EQ(Failure("trunc(1e30)"), "expression 'trunc(1e30)', column 1: trunc: 1e+30 is no integer of 64 bits");
  EXPECT_EQ(Failure("sqrt(-1)"), "expression 'sqrt(-1)', column 1: square root of a negative number");
}

TEST(Expression, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(Failure(""), "expression '', column 1: a value expected, found the end");
  EXPECT_EQ(Failure("1 +"), "expression '1 +', column 4: a value expected, found the end");
  EXPECT_EQ(Failure("(1"), "expression '(1', column 3: ')' expected, found the end");
  EXPECT_EQ(Failure("1 2"), "expression '1 2', column 3: '2' was not expected");
  EXPECT_EQ(Failure("1 ? 2"), "expression '1 ? 2', column 6: ':' expected, found the end");
  EXPECT_EQ(Failure("a = 1"), "expression 'a = 1', column 3: '=' has no meaning in an expression");
  EXPECT_EQ(Failure("010"), "expression '010', column 1: number '010' begins with 0");
  EXPECT_EQ(Failure("12u"), "expression '12u', column 1: '12u' is not a number");
  EXPECT_EQ(Failure("0x"), "expression '0x', column 1: '0x' is not a number");
  EXPECT_EQ(Failure("pow(2, 3)"),
            "expression 'pow(2, 3)', column 1: no function 'pow'; there are ceil_div, ceil_log, max, min, power, sqrt, trunc");
  EXPECT_EQ(Failure("power(2, -1)"), "expression 'power(2, -1)', column 1: power: the exponent is -1; it must be 0 or more");
  EXPECT_EQ(Failure("power(2, 63)"), "expression 'power(2, 63)', column 1: integer overflow");
  EXPECT_EQ(Failure("power(2.0, 3)"), "expression 'power(2.0, 3)', column 1: 'power' takes integers, not a real number");
  EXPECT_EQ(Failure("ceil_log(8, 1)"), "expression 'ceil_log(8, 1)', column 1: ceil_log: the base is 1; it must be 2 or more");
  EXPECT_EQ(Failure("min(1)"), "expression 'min(1)', column 1: min takes 2 values, not 1");
  EXPECT_THAT(Failure(std::string(1000, '(')), testing::HasSubstr("column 101: nested too deeply"));
  EXPECT_THAT(Failure(std::string(5000, '1')), testing::HasSubstr("longer than 4096 characters"));
}

TEST(Expression, ARealResultIsAnErrorForAnInteger) { EXPECT_THROW(Expression::Parse("1 / 2.0").EvaluateInteger({}), Error); }

}  // namespace
}  // namespace evo
