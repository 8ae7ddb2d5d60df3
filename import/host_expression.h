#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// An expression of host code. A value; parts are shared and never altered. Casts, suffixes of numbers and the qualifier std:: are
// left out when it is parsed, and sizeof(TYPE) is a number.
struct HostExpression {
  enum class Kind { kNumber, kName, kMember, kIndex, kCall, kUnary, kBinary, kConditional, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string text;  // the name, the member's name, the operator, or what was not understood
  Number number;
  std::vector<HostExpression> parts;

  static HostExpression Integer(std::int64_t value);
  static HostExpression Name(std::string name);
  static HostExpression Binary(std::string op, HostExpression left, HostExpression right);
  static HostExpression Call(std::string name, std::vector<HostExpression> arguments);

  bool Is(std::string_view name_or_operator) const { return text == name_or_operator; }
  // As an expression of directives and task files (core/expression.h), with few parentheses. Not necessarily one: see IsKnown.
  std::string Text() const;
  // Whether Text is an expression of directives: it has no members, subscripts or unknown functions.
  bool IsKnown() const;
  std::vector<std::string> Names() const;  // in order of appearance, each once
};

// What is replaced: for each name or call the expression in its place, nullopt to leave it.
using HostReplacement = std::function<std::optional<HostExpression>(const HostExpression&)>;

// A copy in which `replace` has been asked for every part, innermost first.
HostExpression Replaced(const HostExpression& expression, const HostReplacement& replace);

// Evaluates what is constant, and writes (a + b - 1) / b, (a - 1) / b + 1 and ceil(a / b) as ceil_div(a, b).
HostExpression Simplified(const HostExpression& expression);
// What an integer gets of it: without the fraction, if it is a real number.
HostExpression Truncated(HostExpression expression);

// Whether it is this integer.
bool IsNumber(const HostExpression& expression, std::int64_t value);

// The value, if all names are in `values`.
std::optional<Number> ValueOf(const HostExpression& expression, const Variables& values);

// The factors of a product, in order: {N, 4} for N * 4.
std::vector<HostExpression> Factors(const HostExpression& expression);
// Their product; 1 if there are none.
HostExpression Product(const std::vector<HostExpression>& factors);

// Parses tokens, such as {"n", "*", "sizeof", "(", "float", ")"}. Never fails: what it does not understand is kUnknown.
HostExpression ParseHostExpression(const std::vector<std::string_view>& tokens);

// The bytes of a type, such as "float" or "unsigned int"; 0 if it is unknown.
int SizeOfType(std::string_view type);

}  // namespace evo
