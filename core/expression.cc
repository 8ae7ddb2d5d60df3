#include "core/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/expression_parser.h"

namespace evo {
namespace {

bool IsTrue(const Number& value) { return value.is_real ? value.real != 0 : value.integer != 0; }

// Evaluates the nodes of one expression.
class Interpreter {
 public:
  Interpreter(const std::string& text, const Variables& variables) : text_(text), variables_(variables) {}

  Number Value(const ExpressionNode& node) const {
    switch (node.kind) {
      case ExpressionNode::Kind::kNumber:
        return node.number;
      case ExpressionNode::Kind::kName:
        return Lookup(node.word, node.column);
      case ExpressionNode::Kind::kUnary:
        return Unary(node.word, Value(node.operands[0]), node.column);
      case ExpressionNode::Kind::kConditional:
        return Value(node.operands[IsTrue(Value(node.operands[0])) ? 1 : 2]);
      case ExpressionNode::Kind::kCall:
      case ExpressionNode::Kind::kBinary:
        break;
    }
    const Number left = Value(node.operands[0]);
    if (node.word == "sqrt") return Root(left, node.column);
    if (node.word == "trunc") return Truncated(left, node.column);
    if (node.word == "&&" && !IsTrue(left)) return Number::Integer(0);
    if (node.word == "||" && IsTrue(left)) return Number::Integer(1);
    const Number right = Value(node.operands[1]);
    if (node.word == "&&" || node.word == "||") return Number::Integer(IsTrue(right) ? 1 : 0);
    if (left.is_real || right.is_real) return Real(node.word, left.AsReal(), right.AsReal(), node.column);
    return Integer(node.word, left.integer, right.integer, node.column);
  }

 private:
  [[noreturn]] void Fail(std::size_t column, std::string_view what) const {
    throw Error(fmt::format("expression '{}', column {}: {}", text_, column, what));
  }

  Number Lookup(const std::string& name, std::size_t column) const {
    const auto variable = variables_.find(name);
    if (variable == variables_.end()) Fail(column, fmt::format("nothing is named '{}'", name));
    return variable->second;
  }

  Number Root(const Number& value, std::size_t column) const {
    if (value.AsReal() < 0) Fail(column, "square root of a negative number");
    return Number::Real(std::sqrt(value.AsReal()));
  }

  Number Truncated(const Number& value, std::size_t column) const {
    constexpr double kBeyond = 9.2e18;
    if (!value.is_real) return value;
    if (!(std::fabs(value.real) < kBeyond)) Fail(column, fmt::format("trunc: {} is no integer of 64 bits", value.real));
    return Number::Integer(static_cast<std::int64_t>(value.real));
  }

  Number Unary(std::string_view op, const Number& value, std::size_t column) const {
    if (op == "+") return value;
    if (op == "!") return Number::Integer(IsTrue(value) ? 0 : 1);
    if (op == "~") {
      if (value.is_real) Fail(column, "'~' takes an integer, not a real number");
      return Number::Integer(~value.integer);
    }
    if (value.is_real) return Number::Real(-value.real);
    if (value.integer == std::numeric_limits<std::int64_t>::min()) Fail(column, "integer overflow");
    return Number::Integer(-value.integer);
  }

  Number Real(std::string_view op, double a, double b, std::size_t column) const {
    if (op == "==") return Number::Integer(a == b);
    if (op == "!=") return Number::Integer(a != b);
    if (op == "<") return Number::Integer(a < b);
    if (op == "<=") return Number::Integer(a <= b);
    if (op == ">") return Number::Integer(a > b);
    if (op == ">=") return Number::Integer(a >= b);
    if (op == "min") return Number::Real(std::min(a, b));
    if (op == "max") return Number::Real(std::max(a, b));
    double result = 0;
    if (op == "+") {
      result = a + b;
    } else if (op == "-") {
      result = a - b;
    } else if (op == "*") {
      result = a * b;
    } else if (op == "/" || op == "ceil_div") {
      if (b == 0) Fail(column, "division by zero");
      result = op == "/" ? a / b : std::ceil(a / b);
    } else {
      Fail(column, fmt::format("'{}' takes integers, not a real number", op));
    }
    if (!std::isfinite(result)) Fail(column, "the result is too large for a real number");
    return Number::Real(result);
  }

  Number Integer(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (op == "==") return Number::Integer(a == b);
    if (op == "!=") return Number::Integer(a != b);
    if (op == "<") return Number::Integer(a < b);
    if (op == "<=") return Number::Integer(a <= b);
    if (op == ">") return Number::Integer(a > b);
    if (op == ">=") return Number::Integer(a >= b);
    if (op == "min") return Number::Integer(std::min(a, b));
    if (op == "max") return Number::Integer(std::max(a, b));
    if (op == "|") return Number::Integer(a | b);
    if (op == "^") return Number::Integer(a ^ b);
    if (op == "&") return Number::Integer(a & b);
    if (op == "<<" || op == ">>") return Shift(op, a, b, column);
    if (op == "/" || op == "%" || op == "ceil_div") return Divide(op, a, b, column);
    if (op == "power") return Power(a, b, column);
    if (op == "ceil_log") return CeilLog(a, b, column);
    std::int64_t result = 0;
    const bool overflow = op == "+"   ? __builtin_add_overflow(a, b, &result)
                          : op == "-" ? __builtin_sub_overflow(a, b, &result)
                                      : __builtin_mul_overflow(a, b, &result);
    if (overflow) Fail(column, "integer overflow");
    return Number::Integer(result);
  }

  Number Power(std::int64_t base, std::int64_t exponent, std::size_t column) const {
    if (exponent < 0) Fail(column, fmt::format("power: the exponent is {}; it must be 0 or more", exponent));
    if (base == 0 || base == 1) return Number::Integer(exponent == 0 ? 1 : base);
    if (base == -1) return Number::Integer(exponent % 2 == 0 ? 1 : -1);
    std::int64_t result = 1;
    for (; exponent > 0; --exponent) {
      if (__builtin_mul_overflow(result, base, &result)) Fail(column, "integer overflow");
    }
    return Number::Integer(result);
  }

  // The least k for which base^k is no less than the value.
  Number CeilLog(std::int64_t value, std::int64_t base, std::size_t column) const {
    if (base < 2) Fail(column, fmt::format("ceil_log: the base is {}; it must be 2 or more", base));
    std::int64_t k = 0;
    for (; value > 1; ++k) value = value / base + (value % base != 0 ? 1 : 0);
    return Number::Integer(k);
  }

  Number Shift(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (b < 0 || b > 63) Fail(column, fmt::format("shift by {}; 0 to 63 is possible", b));
    if (op == ">>") return Number::Integer(a >> b);
    const std::int64_t result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    if (result >> b != a) Fail(column, "integer overflow");
    return Number::Integer(result);
  }

  Number Divide(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (b == 0) Fail(column, "division by zero");
    if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) Fail(column, "integer overflow");
    if (op == "%") return Number::Integer(a % b);
    const bool rounds_up = op == "ceil_div" && a % b != 0 && (a < 0) == (b < 0);
    return Number::Integer(a / b + (rounds_up ? 1 : 0));
  }

  const std::string& text_;
  const Variables& variables_;
};

void CollectNames(const ExpressionNode& node, std::set<std::string>& names) {
  if (node.kind == ExpressionNode::Kind::kName) names.insert(node.word);
  for (const ExpressionNode& operand : node.operands) CollectNames(operand, names);
}

}  // namespace

Expression Expression::Parse(std::string_view text) {
  Expression expression;
  expression.text_ = text;
  expression.root_ = std::make_shared<const ExpressionNode>(ParseExpression(text));
  return expression;
}

Number Expression::Evaluate(const Variables& variables) const { return Interpreter(text_, variables).Value(*root_); }

std::int64_t Expression::EvaluateInteger(const Variables& variables) const {
  const Number value = Evaluate(variables);
  if (value.is_real) throw Error(fmt::format("expression '{}': an integer is wanted, and this is {}", text_, value.real));
  return value.integer;
}

std::vector<std::string> Expression::Names() const {
  std::set<std::string> names;
  CollectNames(*root_, names);
  return {names.begin(), names.end()};
}

}  // namespace evo
