#include "mutators/analysis/numbers/integer_arithmetic.h"

#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
TypeClass ClassOf(const std::string& type) {
  for (const char* real : {"float", "double"}) {
    if (type == real) return TypeClass::kReal;
  }
  for (const char* integer : {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"}) {
    if (type == integer) return TypeClass::kInteger;
  }
  return TypeClass::kOther;
}

bool IsNarrowInteger(const std::string& type) {
  for (const char* narrow : {"bool", "char", "signed char", "unsigned char", "short", "unsigned short"}) {
    if (type == narrow) return true;
  }
  return false;
}

std::string PlainType(const std::string& type) {
  std::string plain = WithoutConst(type);
  while (plain.ends_with('&') || plain.ends_with(' ')) plain.pop_back();
  return plain;
}

bool IsWide(const std::string& type) { return type.find("long") != std::string::npos; }
bool IsUnsigned(const std::string& type) { return type.starts_with("unsigned"); }

NumberType::NumberType(std::string_view type) {
  struct Named {
    std::string_view name;
    Kind kind;
    int bits;
  };
  constexpr Named kNamed[] = {
      {"int", Kind::kSigned, 32},        {"unsigned int", Kind::kUnsigned, 32},   {"bool", Kind::kBool, 1},
      {"short", Kind::kSigned, 16},      {"unsigned short", Kind::kUnsigned, 16}, {"char", Kind::kSigned, 8},
      {"signed char", Kind::kSigned, 8}, {"unsigned char", Kind::kUnsigned, 8}};
  for (const Named& one : kNamed) {
    if (one.name != type) continue;
    kind_ = one.kind;
    bits_ = one.bits;
    return;
  }
}

std::int64_t NumberType::Fit(std::int64_t number) const {
  if (kind_ == Kind::kAny) return number;
  if (kind_ == Kind::kBool) return number != 0;
  const std::uint64_t shifted = static_cast<std::uint64_t>(number) << (64 - bits_);
  return kind_ == Kind::kUnsigned ? Truncated(shifted >> (64 - bits_)) : Truncated(shifted) >> (64 - bits_);
}

IntegerOperator::IntegerOperator(std::string_view spelled) : kind_(KindOf(spelled)) {}

IntegerOperator::Kind IntegerOperator::KindOf(std::string_view spelled) {
  using enum Kind;
  const char first = spelled.empty() ? '\0' : spelled.front();
  if (spelled.size() == 1) {
    constexpr std::string_view kSpelled = "+-*<>/%&|^";
    constexpr Kind kKinds[] = {kPlus, kMinus, kTimes, kLess, kGreater, kDivide, kRemainder, kAnd, kOr, kXor};
    const std::size_t at = kSpelled.find(first);
    return at != std::string_view::npos ? kKinds[at] : kOther;
  }
  if (spelled.size() != 2) return kOther;
  const char second = spelled.back();
  if (second == '=')
    return first == '<'   ? kLessOrEqual
           : first == '>' ? kGreaterOrEqual
           : first == '=' ? kEqual
           : first == '!' ? kUnequal
                          : kOther;
  if (second != first) return kOther;
  return first == '<' ? kLeft : first == '>' ? kRight : kOther;
}

std::string_view IntegerOperator::spelled() const {
  constexpr std::string_view kSpelled[] = {"<", "<=", ">", ">=", "==", "!=", "+", "-", "*",
                                           "&", "|",  "^", "<<", ">>", "/",  "%", ""};
  return kSpelled[static_cast<std::size_t>(kind_)];
}

}  // namespace evo
