#include "import/host_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/error.h"
#include "import/rounded_up.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

const std::set<std::string, std::less<>> kFunctions = {"ceil_div", "ceil_log", "min", "max", "power", "sqrt", "trunc"};

int Precedence(const HostExpression& expression) {
  static const std::map<std::string, int, std::less<>> kBinary = {
      {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},
      {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
  if (expression.kind == Kind::kConditional) return 0;
  if (expression.kind == Kind::kUnary) return 11;
  if (expression.kind != Kind::kBinary) return 12;
  const auto found = kBinary.find(expression.text);
  return found == kBinary.end() ? 0 : found->second;
}

std::string Enclosed(const HostExpression& expression, bool parentheses) {
  return parentheses ? "(" + expression.Text() + ")" : expression.Text();
}

std::string NumberText(const Number& number) {
  if (!number.is_real) return fmt::format("{}", number.integer);
  std::string text = fmt::format("{}", number.real);
  // 1000.0 / (n + 1) is no quotient of integers.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

// The value of a function of the C library that expressions of directives lack, such as powf(0.9, 10).
std::optional<HostExpression> FunctionValue(const HostExpression& call) {
  std::vector<double> arguments;
  for (const HostExpression& part : call.parts) {
    const auto value = ValueOf(part, {});
    if (!value) return std::nullopt;
    arguments.push_back(value->AsReal());
  }
  std::string name = call.text;
  if (name.size() > 3 && name.ends_with('f')) name.pop_back();
  double result = 0;
  if (name == "pow" && arguments.size() == 2) {
    result = std::pow(arguments[0], arguments[1]);
  } else if (arguments.size() != 1) {
    return std::nullopt;
  } else if (name == "exp") {
    result = std::exp(arguments[0]);
  } else if (name == "log") {
    result = std::log(arguments[0]);
  } else if (name == "log2") {
    result = std::log2(arguments[0]);
  } else if (name == "floor_log") {
    result = std::floor(std::log2(arguments[0]));
  } else if (name == "sin") {
    result = std::sin(arguments[0]);
  } else if (name == "cos") {
    result = std::cos(arguments[0]);
  } else if (name == "fabs") {
    result = std::fabs(arguments[0]);
  } else if (name == "floor") {
    result = std::floor(arguments[0]);
  } else {
    return std::nullopt;
  }
  if (!std::isfinite(result)) return std::nullopt;
  if (call.Is("floor_log")) return HostExpression::Integer(static_cast<std::int64_t>(result));
  return HostExpression{Kind::kNumber, "", Number::Real(result), {}};
}

}  // namespace

// Whether it is a real number by what it is made of.
bool IsReal(const HostExpression& expression) {
  const auto& parts = expression.parts;
  switch (expression.kind) {
    case Kind::kNumber:
      return expression.number.is_real;
    case Kind::kUnary:
      return expression.Is("-") && IsReal(parts[0]);
    case Kind::kConditional:
      return IsReal(parts[1]) || IsReal(parts[2]);
    case Kind::kBinary: {
      const bool arithmetic =
          expression.text.size() == 1 && std::string_view("+-*/").find(expression.text) != std::string_view::npos;
      return arithmetic && std::any_of(parts.begin(), parts.end(), IsReal);
    }
    case Kind::kCall:
      return expression.Is("sqrt") ||
             ((expression.Is("min") || expression.Is("max")) && std::any_of(parts.begin(), parts.end(), IsReal));
    default:
      return false;
  }
}

bool IsNumber(const HostExpression& expression, std::int64_t value) {
  return expression.kind == Kind::kNumber && !expression.number.is_real && expression.number.integer == value;
}

HostExpression HostExpression::Integer(std::int64_t value) { return {Kind::kNumber, "", Number::Integer(value), {}}; }
HostExpression HostExpression::Name(std::string name) { return {Kind::kName, std::move(name), {}, {}}; }
HostExpression HostExpression::Binary(std::string op, HostExpression left, HostExpression right) {
  return {Kind::kBinary, std::move(op), {}, {std::move(left), std::move(right)}};
}
HostExpression HostExpression::Call(std::string name, std::vector<HostExpression> arguments) {
  return {Kind::kCall, std::move(name), {}, std::move(arguments)};
}

std::string HostExpression::Text() const {
  switch (kind) {
    case Kind::kNumber:
      return NumberText(number);
    case Kind::kName:
    case Kind::kUnknown:
      return text;
    case Kind::kMember:
      return parts[0].Text() + "." + text;
    case Kind::kIndex:
      return parts[0].Text() + "[" + parts[1].Text() + "]";
    case Kind::kUnary:
      return text + Enclosed(parts[0], Precedence(parts[0]) < 11);
    case Kind::kConditional:
      return fmt::format("{} ? {} : {}", Enclosed(parts[0], Precedence(parts[0]) == 0), parts[1].Text(), parts[2].Text());
    case Kind::kCall: {
      std::string list;
      for (const HostExpression& part : parts) list += (list.empty() ? "" : ", ") + part.Text();
      return text + "(" + list + ")";
    }
    case Kind::kBinary: {
      const int own = Precedence(*this);
      return fmt::format("{} {} {}", Enclosed(parts[0], Precedence(parts[0]) < own), text,
                         Enclosed(parts[1], Precedence(parts[1]) <= own));
    }
  }
  return text;
}

bool HostExpression::IsKnown() const {
  if (kind == Kind::kUnknown || kind == Kind::kMember || kind == Kind::kIndex) return false;
  if (kind == Kind::kCall && !kFunctions.contains(text)) return false;
  return std::all_of(parts.begin(), parts.end(), [](const HostExpression& part) { return part.IsKnown(); });
}

std::vector<std::string> HostExpression::Names() const {
  std::vector<std::string> names;
  if (kind == Kind::kName) return {text};
  for (const HostExpression& part : parts) {
    for (std::string& name : part.Names()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

HostExpression Replaced(const HostExpression& expression, const HostReplacement& replace) {
  HostExpression copy = expression;
  for (HostExpression& part : copy.parts) part = Replaced(part, replace);
  if (std::optional<HostExpression> other = replace(copy)) return *std::move(other);
  return copy;
}

HostExpression Simplified(const HostExpression& expression) {
  return Replaced(expression, [](const HostExpression& part) -> std::optional<HostExpression> {
    if (auto rounded = RoundedUp(part)) return rounded;
    if (part.kind == Kind::kNumber || !part.Names().empty()) {
      if (part.kind == Kind::kCall && part.Is("ceil_div") && part.parts.size() == 2) {
        if (IsNumber(part.parts[1], 1)) return part.parts[0];
        // No size reaches the largest grid.
        if (IsNumber(part.parts[1], 2147483647)) return HostExpression::Integer(1);
      }
      if (part.kind != Kind::kBinary) return std::nullopt;
      if (part.Is("*") && IsNumber(part.parts[0], 1)) return part.parts[1];
      if ((part.Is("*") || part.Is("/")) && IsNumber(part.parts[1], 1)) return part.parts[0];
      if ((part.Is("+") || part.Is("-")) && IsNumber(part.parts[1], 0)) return part.parts[0];
      // a * 8 / 8, a - 1 + 1 and a + 1 - 1
      const HostExpression &inner = part.parts[0], &number = part.parts[1];
      const bool undoes = inner.kind == Kind::kBinary && number.kind == Kind::kNumber && !number.number.is_real &&
                          ((part.Is("/") && inner.Is("*")) || (part.Is("+") && inner.Is("-")) || (part.Is("-") && inner.Is("+")));
      if (undoes && IsNumber(inner.parts[1], number.number.integer) && number.number.integer != 0) return inner.parts[0];
      if (undoes && part.Is("/") && IsNumber(inner.parts[0], number.number.integer) && number.number.integer != 0)
        return inner.parts[1];
      return std::nullopt;
    }
    const std::optional<Number> value = ValueOf(part, {});
    if (!value) return std::nullopt;
    return HostExpression{Kind::kNumber, "", *value, {}};
  });
}

HostExpression Truncated(HostExpression expression) {
  if (!IsReal(expression)) return expression;
  if (expression.kind == Kind::kNumber) return HostExpression::Integer(static_cast<std::int64_t>(expression.number.real));
  return HostExpression::Call("trunc", {std::move(expression)});
}

std::optional<Number> ValueOf(const HostExpression& expression, const Variables& values) {
  const HostExpression known = Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind == Kind::kName) {
      const auto value = values.find(part.text);
      return value == values.end() ? std::nullopt : std::optional(HostExpression{Kind::kNumber, "", value->second, {}});
    }
    return part.kind == Kind::kCall && !kFunctions.contains(part.text) ? FunctionValue(part) : std::nullopt;
  });
  if (!known.IsKnown()) return std::nullopt;
  try {
    return Expression::Parse(known.Text()).Evaluate(values);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<HostExpression> Factors(const HostExpression& expression) {
  if (expression.kind != Kind::kBinary || !expression.Is("*")) return {expression};
  std::vector<HostExpression> factors = Factors(expression.parts[0]);
  for (HostExpression& factor : Factors(expression.parts[1])) factors.push_back(std::move(factor));
  return factors;
}

HostExpression Product(const std::vector<HostExpression>& factors) {
  if (factors.empty()) return HostExpression::Integer(1);
  HostExpression product = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) product = HostExpression::Binary("*", product, factors[i]);
  return product;
}

int SizeOfType(std::string_view type) {
  static const std::map<std::string, int, std::less<>> kSizes = {{"char", 1},
                                                                 {"bool", 1},
                                                                 {"unsigned char", 1},
                                                                 {"signed char", 1},
                                                                 {"uint8_t", 1},
                                                                 {"int8_t", 1},
                                                                 {"uchar", 1},
                                                                 {"short", 2},
                                                                 {"unsigned short", 2},
                                                                 {"int16_t", 2},
                                                                 {"uint16_t", 2},
                                                                 {"__half", 2},
                                                                 {"half", 2},
                                                                 {"__nv_bfloat16", 2},
                                                                 {"nv_bfloat16", 2},
                                                                 {"int", 4},
                                                                 {"unsigned", 4},
                                                                 {"unsigned int", 4},
                                                                 {"uint", 4},
                                                                 {"float", 4},
                                                                 {"int32_t", 4},
                                                                 {"uint32_t", 4},
                                                                 {"long", 8},
                                                                 {"unsigned long", 8},
                                                                 {"long long", 8},
                                                                 {"long int", 8},
                                                                 {"long long int", 8},
                                                                 {"unsigned long int", 8},
                                                                 {"unsigned long long int", 8},
                                                                 {"unsigned long long", 8},
                                                                 {"size_t", 8},
                                                                 {"int64_t", 8},
                                                                 {"uint64_t", 8},
                                                                 {"double", 8},
                                                                 {"float2", 8},
                                                                 {"int2", 8},
                                                                 {"float3", 12},
                                                                 {"float4", 16},
                                                                 {"int4", 16},
                                                                 {"double2", 16},
                                                                 {"uchar4", 4},
                                                                 {"uchar2", 2},
                                                                 {"uchar3", 3},
                                                                 {"char4", 4},
                                                                 {"short2", 4},
                                                                 {"short4", 8},
                                                                 {"uint2", 8},
                                                                 {"int3", 12},
                                                                 {"uint4", 16},
                                                                 {"double4", 32},
                                                                 {"half2", 4},
                                                                 {"__half2", 4},
                                                                 {"__nv_bfloat162", 4},
                                                                 {"longlong2", 16},
                                                                 {"cuComplex", 8},
                                                                 {"cuFloatComplex", 8},
                                                                 {"cuDoubleComplex", 16}};
  const auto found = kSizes.find(type);
  return found == kSizes.end() ? 0 : found->second;
}

}  // namespace evo
