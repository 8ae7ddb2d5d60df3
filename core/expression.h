#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// An integer with C's meaning, or a real number.
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

// A parsed expression of directives and task files. Integers are 64 bit with C's operators and precedence
// (?: || && | ^ & == != < <= > >= << >> + - * / % unary + - ! ~), `/` truncates, && || ?: do not evaluate what they skip;
// ceil_div, min, max; a real operand makes the result real; sqrt gives a real. Overflow, division by zero, a shift
// outside 0..63 and an unknown name are Errors that show the expression and the column. Immutable, cheap to copy.
class Expression {
 public:
  // Throws Error with the column of what could not be understood.
  static Expression Parse(std::string_view text);

  // Throws Error.
  Number Evaluate(const Variables& variables) const;
  // As Evaluate, and an Error if the result is real.
  std::int64_t EvaluateInteger(const Variables& variables) const;

  const std::string& text() const { return text_; }
  // Every name the expression mentions, sorted, each once, function names left out.
  std::vector<std::string> Names() const;

 private:
  struct Node;
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace evo
