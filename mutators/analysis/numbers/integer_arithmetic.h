#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evo {

// Numbers as C++'s types have them, and what its operators make of integers, for code that runs kernels on numbers.

// What a conversion between two types keeps of data: nothing, unless both are real or both are integers of at least 32 bits.
enum class TypeClass { kInteger, kReal, kOther };
TypeClass ClassOf(const std::string& type);
// Whether it is an integer of less than 32 bits, or bool: operators make an int of it.
bool IsNarrowInteger(const std::string& type);
// Without const, references and blanks at its end.
std::string PlainType(const std::string& type);
// Integers of 64 bits.
bool IsWide(const std::string& type);
bool IsUnsigned(const std::string& type);
// 64 bits that wrap.
inline std::int64_t Truncated(std::uint64_t number) { return static_cast<std::int64_t>(number); }

// The numbers that a type has. Types other than integers of less than 64 bits and bool have all.
class NumberType {
 public:
  explicit NumberType(std::string_view type);
  // A number after its conversion to the type.
  std::int64_t Fit(std::int64_t number) const;

 private:
  enum class Kind : std::uint8_t { kBool, kSigned, kUnsigned, kAny };
  Kind kind_ = Kind::kAny;
  int bits_ = 64;
};

// A binary operator of integers.
class IntegerOperator {
 public:
  enum class Kind : std::uint8_t {
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kEqual,
    kUnequal,
    kPlus,
    kMinus,
    kTimes,
    kAnd,
    kOr,
    kXor,
    kLeft,
    kRight,
    kDivide,
    kRemainder,
    kOther
  };

  // None of the usual ones.
  IntegerOperator() = default;
  explicit IntegerOperator(std::string_view spelled);
  Kind kind() const { return kind_; }
  // Empty for those that are none of the usual ones.
  std::string_view spelled() const;
  // Whether it is one of `<`, `<=`, `>`, `>=`, `==`, `!=`.
  bool compares() const { return kind_ <= Kind::kUnequal; }
  // Whether a comparison is true of two real numbers.
  bool Holds(double a, double b) const { return Compare(a, b); }
  // nullopt for what C++ does not define, such as a division by zero, and for operators that are none of the usual ones.
  std::optional<std::int64_t> Result(std::int64_t a, std::int64_t b, bool is_unsigned = false) const;

 private:
  static Kind KindOf(std::string_view spelled);
  template <typename T>
  bool Compare(T a, T b) const {
    if (kind_ == Kind::kLess) return a < b;
    if (kind_ == Kind::kLessOrEqual) return a <= b;
    if (kind_ == Kind::kGreater) return a > b;
    if (kind_ == Kind::kGreaterOrEqual) return a >= b;
    return (a == b) == (kind_ == Kind::kEqual);
  }

  Kind kind_ = Kind::kOther;
};

// Here, since kernels that are run on numbers ask for it in each of millions of steps.
inline std::optional<std::int64_t> IntegerOperator::Result(std::int64_t a, std::int64_t b, bool is_unsigned) const {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  if (compares()) return is_unsigned ? Compare(ua, ub) : Compare(a, b);
  const bool shifts = b >= 0 && b <= 62, divides = b != 0 && (b != -1 || is_unsigned);
  switch (kind_) {
    case Kind::kPlus:
      return Truncated(ua + ub);
    case Kind::kMinus:
      return Truncated(ua - ub);
    case Kind::kTimes:
      return Truncated(ua * ub);
    case Kind::kAnd:
      return a & b;
    case Kind::kOr:
      return a | b;
    case Kind::kXor:
      return a ^ b;
    case Kind::kLeft:
      return shifts ? std::optional(Truncated(ua << ub)) : std::nullopt;
    case Kind::kRight:
      // GPUs shift by no more than all bits: indices of banks, `n >> 32 + n`, are 0 there.
      if (b > 62) return is_unsigned || a >= 0 ? 0 : -1;
      return shifts ? std::optional(is_unsigned ? Truncated(ua >> ub) : a >> b) : std::nullopt;
    case Kind::kDivide:
      return divides ? std::optional(is_unsigned ? Truncated(ua / ub) : a / b) : std::nullopt;
    case Kind::kRemainder:
      return divides ? std::optional(is_unsigned ? Truncated(ua % ub) : a % b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace evo
