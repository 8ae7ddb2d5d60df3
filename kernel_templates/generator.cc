#include "kernel_templates/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

using Kind = Generator::Kind;

struct Form {
  std::string_view name;
  Kind kind;
  std::size_t least;  // fewest numbers in parentheses
  std::size_t most;
  bool bounded;  // takes a <BOUND
};

constexpr std::array<Form, 10> kFormRows{{
    {"normal", Kind::kNormal, 0, 2, false},
    {"uniform", Kind::kUniform, 2, 2, false},
    {"constant", Kind::kConstant, 1, 1, false},
    {"one_hot", Kind::kOneHot, 0, 0, false},
    {"sparse", Kind::kSparse, 1, 1, false},
    {"log_uniform", Kind::kLogUniform, 2, 2, false},
    {"cauchy", Kind::kCauchy, 1, 1, false},
    {"index", Kind::kIndex, 0, 0, true},
    {"permutation", Kind::kPermutation, 0, 0, false},
    {"offsets", Kind::kOffsets, 0, 0, true},
}};

constexpr std::string_view kForms =
    "normal, normal(mean,deviation), uniform(low,high), constant(value), one_hot, sparse(share), log_uniform(low,high), "
    "cauchy(scale), index<BOUND, permutation, offsets<BOUND";

}  // namespace

Generator ParseGenerator(const std::string& text) {
  const std::string_view name = Trim(std::string_view(text).substr(0, text.find_first_of("(<")));
  const auto row = std::find_if(kFormRows.begin(), kFormRows.end(), [&](const Form& r) { return r.name == name; });
  if (row == kFormRows.end()) throw Error(fmt::format("no generator '{}'; there are {}", text, kForms));
  Generator generator;
  generator.kind = row->kind;
  generator.text = text;
  const std::string_view rest = Trim(std::string_view(text).substr(text.find(name) + name.size()));
  if (row->bounded) {
    if (!rest.starts_with('<')) throw Error(fmt::format("'{}': write {}<BOUND", text, name));
    generator.bound = Expression::Parse(Trim(rest.substr(1)));
    return generator;
  }
  const bool in_parentheses = rest.size() >= 2 && rest.front() == '(' && rest.back() == ')';
  const std::vector<std::string> numbers =
      in_parentheses ? SplitAtCommas(rest.substr(1, rest.size() - 2)) : std::vector<std::string>{};
  const bool right_count = numbers.size() == row->most || (numbers.empty() && row->least == 0);
  if ((!rest.empty() && !in_parentheses) || !right_count || (in_parentheses && numbers.empty())) {
    throw Error(fmt::format("'{}' is not one of {}", text, kForms));
  }
  if (!numbers.empty()) generator.a = Expression::Parse(numbers[0]).Evaluate({}).AsReal();
  if (numbers.size() > 1) generator.b = Expression::Parse(numbers[1]).Evaluate({}).AsReal();
  if (row->kind == Kind::kUniform && generator.a >= generator.b) throw Error(fmt::format("'{}': low must be below high", text));
  if (row->kind == Kind::kNormal && generator.b <= 0) throw Error(fmt::format("'{}': the deviation must be positive", text));
  if (row->kind == Kind::kSparse && (generator.a <= 0 || generator.a > 1)) {
    throw Error(fmt::format("'{}': the share of non-zeros must be greater than 0 and at most 1", text));
  }
  if (row->kind == Kind::kLogUniform && !(generator.a > 0 && generator.a < generator.b)) {
    throw Error(fmt::format("'{}': low must be above 0 and below high", text));
  }
  if (row->kind == Kind::kCauchy && generator.a <= 0) throw Error(fmt::format("'{}': the scale must be positive", text));
  return generator;
}

std::string ShortestText(double number) {
  std::array<char, 32> text{};  // the longest double takes 24 characters
  char* const end = text.data() + text.size();
  // Digits alone would be read as an integer, which has no negative zero, or which is too large.
  if (number == 0 && std::signbit(number)) return "-0.0";
  if (std::abs(number) >= 0x1p63)
    return {text.data(), std::to_chars(text.data(), end, number, std::chars_format::scientific).ptr};
  return {text.data(), std::to_chars(text.data(), end, number).ptr};
}

std::string ToText(const Generator& generator) {
  const Form& row = *std::find_if(kFormRows.begin(), kFormRows.end(), [&](const Form& r) { return r.kind == generator.kind; });
  if (row.bounded) return fmt::format("{}<{}", row.name, generator.bound.text());
  if (row.most == 2) return fmt::format("{}({},{})", row.name, ShortestText(generator.a), ShortestText(generator.b));
  if (row.most == 1) return fmt::format("{}({})", row.name, ShortestText(generator.a));
  return std::string(row.name);
}

bool Fits(Kind kind, Dtype dtype) {
  if (kind == Kind::kConstant || kind == Kind::kOneHot) return true;
  const bool integers = kind == Kind::kIndex || kind == Kind::kPermutation || kind == Kind::kOffsets;
  return integers != IsFloating(dtype);
}

}  // namespace evo
