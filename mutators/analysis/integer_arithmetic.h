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
// Without const, references and blanks at its end.
std::string PlainType(const std::string& type);
// Integers of 64 bits.
bool IsWide(const std::string& type);
bool IsUnsigned(const std::string& type);
// 64 bits that wrap.
std::int64_t Truncated(std::uint64_t number);

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

}  // namespace evo
