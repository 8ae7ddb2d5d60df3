#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

struct ExpressionNode;

// An integer or a real number.
struct Number {
  bool is_real = false;
  std::int64_t integer = 0;
  double real = 0;

  static Number Integer(std::int64_t value) { return {false, value, 0}; }
  static Number Real(double value) { return {true, 0, value}; }
  double AsReal() const { return is_real ? real : static_cast<double>(integer); }
  bool operator==(const Number&) const = default;
};

using Variables = std::map<std::string, Number>;

// A parsed expression from a directive or a task file. Integers have 64 bits and C's operators and precedence (?: || && | ^ & ==
// != < <= > >= << >> + - * / % unary + - ! ~): `/` truncates, and && || ?: do not evaluate what they skip. The functions are
// ceil_div, min, max, sqrt, trunc, power(base, exponent) and ceil_log(value, base), the least k with power(base, k) >= value; the
// last two take integers only. A real operand makes the result real; sqrt always gives a real number, and trunc an integer: it
// leaves the fraction out, as a conversion to int does. Overflow, division by zero, a
// shift outside 0..63 and an unknown name are Errors that show the expression and the column. Immutable, cheap to copy.
class Expression {
 public:
  // Throws Error with the column of the text that could not be understood.
  static Expression Parse(std::string_view text);

  // Throws Error for the cases named above.
  Number Evaluate(const Variables& variables) const;
  // As Evaluate, but a real result is an Error, too.
  std::int64_t EvaluateInteger(const Variables& variables) const;

  const std::string& text() const { return text_; }
  // Every name in the expression except those of functions, sorted, each once.
  std::vector<std::string> Names() const;

 private:
  std::string text_;
  std::shared_ptr<const ExpressionNode> root_;
};

}  // namespace evo
