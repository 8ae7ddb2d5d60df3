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
// A number as an integer type has it.
std::int64_t Fitted(std::int64_t number, const std::string& type);
// 64 bits that wrap.
std::int64_t Truncated(std::uint64_t number);
// Whether an operator is one of `<`, `<=`, `>`, `>=`, `==`, `!=`.
bool Compares(std::string_view spelled);
// The result of a binary operator; nullopt for one that C++ does not define, such as a division by zero, and for other operators.
std::optional<std::int64_t> IntegerResult(std::string_view spelled, std::int64_t a, std::int64_t b, bool is_unsigned);

}  // namespace evo
