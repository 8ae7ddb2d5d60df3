#include "mutators/analysis/thread_runs/thread_vectors.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace evo {
namespace {

// A number's type, by which vectors are named, and its bytes.
struct ThreadNumber {
  std::string_view vector, number;
  int bytes;
};
constexpr ThreadNumber kThreadNumbers[] = {{"float", "float", 4},
                                           {"double", "double", 8},
                                           {"char", "signed char", 1},
                                           {"uchar", "unsigned char", 1},
                                           {"short", "short", 2},
                                           {"ushort", "unsigned short", 2},
                                           {"int", "int", 4},
                                           {"uint", "unsigned int", 4},
                                           {"__half", "__half", 2},
                                           {"__nv_bfloat16", "__nv_bfloat16", 2},
                                           {"", "char", 1},
                                           {"", "bool", 1},
                                           {"", "long", 8},
                                           {"", "unsigned long", 8},
                                           {"", "long long", 8},
                                           {"", "unsigned long long", 8}};

std::string_view BareThreadType(std::string_view type) {
  for (const std::string_view word : {"const ", "volatile "}) {
    if (type.starts_with(word)) type.remove_prefix(word.size());
  }
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

bool IsThreadVector(const ThreadValue& value) { return value.kind == ThreadValue::Kind::kVector; }

}  // namespace

ThreadVectorType ThreadVectorTypeOf(std::string_view type) {
  type = BareThreadType(type);
  if (type.size() < 2 || type.back() < '1' || type.back() > '4') return {};
  const std::string_view of = type.substr(0, type.size() - 1);
  if (type == "__nv_bfloat162") return {"__nv_bfloat16", 2};
  for (const ThreadNumber& known : kThreadNumbers) {
    if (known.vector == of && !(known.vector.starts_with("__") && type.back() != '2')) return {known.number, type.back() - '0'};
  }
  return {};
}

int ThreadBytesOf(std::string_view type) {
  type = BareThreadType(type);
  const ThreadVectorType vector = ThreadVectorTypeOf(type);
  const std::string_view number = vector.count > 0 ? vector.number : type;
  for (const ThreadNumber& known : kThreadNumbers) {
    if (known.number == number) return known.bytes * std::max(1, vector.count);
  }
  return 0;
}

std::string_view PointedThreadType(std::string_view type) {
  const std::size_t end = type.find_first_of("*[");
  if (end == std::string_view::npos || type.find('(') != std::string_view::npos) return "";
  // Of pointers to pointers nothing is known.
  if (std::count(type.begin(), type.end(), '*') > (type[end] == '*' ? 1 : 0)) return "";
  return BareThreadType(type.substr(0, end));
}

int ThreadComponentOf(std::string_view member) {
  constexpr std::string_view kComponents = "xyzw";
  return member.size() == 1 && kComponents.find(member) != std::string_view::npos ? static_cast<int>(kComponents.find(member))
                                                                                  : -1;
}

std::optional<ThreadValue> VectorCalled(ThreadArithmetic& arithmetic, std::string_view callee, const ThreadArguments& arguments) {
  const auto each = [&](std::string_view function, const ThreadValue& of) {
    return arithmetic.Called(ThreadCallee(function), ThreadArguments{of});
  };
  // Functions of each number of a vector, and of one number by which both of a vector are made.
  constexpr std::pair<std::string_view, std::string_view> kOfEach[] = {{"__half22float2", "__half2float"},
                                                                       {"__bfloat1622float2", "__bfloat162float"},
                                                                       {"__float22half2_rn", "__float2half_rn"},
                                                                       {"__float22bfloat162_rn", "__float2bfloat16_rn"}};
  constexpr std::pair<std::string_view, std::string_view> kOfTwo[] = {{"__floats2half2_rn", "__float2half_rn"},
                                                                      {"__floats2bfloat162_rn", "__float2bfloat16_rn"}};
  constexpr std::array<std::string_view, 6> kFirst{"__low2float",  "__low2half",  "__low2bfloat16",
                                                   "__high2float", "__high2half", "__high2bfloat16"};
  std::vector<ThreadValue> values(arguments.begin(), arguments.end());
  const auto all_are_numbers = [&] {
    return std::all_of(values.begin(), values.end(), [](const ThreadValue& value) { return value.IsNumber(); });
  };
  const bool makes = callee.starts_with("make_") && ThreadVectorTypeOf(callee.substr(5)).count == static_cast<int>(values.size());
  const bool halves =
      (callee == "__halves2half2" || callee == "__halves2bfloat162" || callee == "make_half2" || callee == "make_bfloat162") &&
      values.size() == 2;
  if ((makes || halves) && all_are_numbers()) {
    const ThreadType type = makes ? ThreadTypeOf(ThreadVectorTypeOf(callee.substr(5)).number) : ThreadType::kShortReal;
    for (ThreadValue& value : values) value = arithmetic.Converted(std::move(value), type);
    return ThreadValue::Vector(std::move(values));
  }
  for (const auto& [name, function] : kOfTwo) {
    if (name != callee || values.size() != 2 || !all_are_numbers()) continue;
    return ThreadValue::Vector({each(function, values[0]), each(function, values[1])});
  }
  if (values.size() != 1 || !IsThreadVector(values[0])) return std::nullopt;
  const std::vector<ThreadValue>& parts = *values[0].parts;
  for (const auto& [name, function] : kOfEach) {
    if (name != callee) continue;
    std::vector<ThreadValue> results;
    for (const ThreadValue& part : parts) results.push_back(each(function, part));
    return ThreadValue::Vector(std::move(results));
  }
  if (std::find(kFirst.begin(), kFirst.end(), callee) == kFirst.end() || parts.size() != 2) return std::nullopt;
  return parts[callee.starts_with("__low") ? 0 : 1];
}

}  // namespace evo
