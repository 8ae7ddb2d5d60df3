#include "mutators/analysis/integer_arithmetic.h"

#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

template <typename T>
bool ComparedAs(std::string_view spelled, T a, T b) {
  if (spelled == "<") return a < b;
  if (spelled == "<=") return a <= b;
  if (spelled == ">") return a > b;
  if (spelled == ">=") return a >= b;
  return (a == b) == (spelled == "==");
}

}  // namespace

TypeClass ClassOf(const std::string& type) {
  for (const char* real : {"float", "double"}) {
    if (type == real) return TypeClass::kReal;
  }
  for (const char* integer : {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"}) {
    if (type == integer) return TypeClass::kInteger;
  }
  return TypeClass::kOther;
}

std::string PlainType(const std::string& type) {
  std::string plain = WithoutConst(type);
  while (plain.ends_with('&') || plain.ends_with(' ')) plain.pop_back();
  return plain;
}

bool IsWide(const std::string& type) { return type.find("long") != std::string::npos; }
bool IsUnsigned(const std::string& type) { return type.starts_with("unsigned"); }

std::int64_t Fitted(std::int64_t number, const std::string& type) {
  if (type == "bool") return number != 0;
  if (type == "int") return static_cast<std::int32_t>(number);
  if (type == "unsigned int") return static_cast<std::uint32_t>(number);
  if (type == "short") return static_cast<std::int16_t>(number);
  if (type == "unsigned short") return static_cast<std::uint16_t>(number);
  if (type == "char" || type == "signed char") return static_cast<std::int8_t>(number);
  if (type == "unsigned char") return static_cast<std::uint8_t>(number);
  return number;
}

std::int64_t Truncated(std::uint64_t number) { return static_cast<std::int64_t>(number); }

bool Compares(std::string_view spelled) {
  return spelled == "<" || spelled == "<=" || spelled == ">" || spelled == ">=" || spelled == "==" || spelled == "!=";
}

std::optional<std::int64_t> IntegerResult(std::string_view spelled, std::int64_t a, std::int64_t b, bool is_unsigned) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  if (Compares(spelled)) return is_unsigned ? ComparedAs(spelled, ua, ub) : ComparedAs(spelled, a, b);
  if (spelled == "+") return Truncated(ua + ub);
  if (spelled == "-") return Truncated(ua - ub);
  if (spelled == "*") return Truncated(ua * ub);
  if (spelled == "&") return a & b;
  if (spelled == "|") return a | b;
  if (spelled == "^") return a ^ b;
  if (spelled == "<<" || spelled == ">>") {
    if (b < 0 || b > 62) return std::nullopt;
    return spelled == "<<" ? Truncated(ua << ub) : is_unsigned ? Truncated(ua >> ub) : a >> b;
  }
  if ((spelled != "/" && spelled != "%") || b == 0 || (b == -1 && !is_unsigned)) return std::nullopt;
  if (is_unsigned) return Truncated(spelled == "/" ? ua / ub : ua % ub);
  return spelled == "/" ? a / b : a % b;
}

}  // namespace evo
