#include "mutators/analysis/source/combination.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

bool IsExtremeOf(std::string_view callee, std::string_view which) {
  return callee == which || callee == fmt::format("f{}f", which) || callee == fmt::format("f{}", which);
}

}  // namespace

bool IsFold(std::string_view spelled) {
  return spelled == "+" || spelled == "*" || spelled == "^" || spelled == "&" || spelled == "|";
}

bool IsFusedProduct(const SyntaxTree& tree, int call) {
  const auto callee = LibraryCallee(tree, call);
  return tree.node(call).children.size() == 4 && (callee == "fmaf" || callee == "fma" || callee == "__fmaf_rn");
}

std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression) {
  const int node = WithoutParentheses(tree, expression);
  const auto& parts = tree.node(node).children;
  if (tree.Operator(node) == "+" && parts.size() == 2) return Combination{"+", parts[0], parts[1]};
  if (const auto callee = LibraryCallee(tree, node); parts.size() == 3 && !callee.empty()) {
    for (const char* which : {"max", "min"}) {
      if (IsExtremeOf(callee, which)) return Combination{which, parts[1], parts[2]};
    }
  }
  if (tree.node(node).kind_name != "ConditionalOperator" || parts.size() != 3) return std::nullopt;
  const int condition = WithoutParentheses(tree, parts[0]);
  const auto& sides = tree.node(condition).children;
  const std::string_view spelled = tree.Operator(condition);
  if (sides.size() != 2 || (!spelled.starts_with("<") && !spelled.starts_with(">")) || spelled.size() > 2) return std::nullopt;
  const auto same = [&](int a, int b) { return SameTokens(tree.Text(a), tree.Text(b)); };
  const bool greater = spelled.front() == '>';
  if (same(sides[0], parts[1]) && same(sides[1], parts[2])) return Combination{greater ? "max" : "min", parts[1], parts[2]};
  if (same(sides[1], parts[1]) && same(sides[0], parts[2])) return Combination{greater ? "min" : "max", parts[1], parts[2]};
  return std::nullopt;
}

bool IsNeutral(const SyntaxTree& tree, const std::string& combine, const std::string& type, std::string initial,
               const std::vector<int>& elements) {
  std::erase_if(initial, [](char c) { return c == ' ' || c == '(' || c == ')'; });
  for (const std::string_view cast : {"float", "double", "int"}) {
    if (initial.starts_with(cast)) initial.erase(0, cast.size());
  }
  constexpr std::array kZeros{"0"sv, "0.0"sv, "0.f"sv, "0.0f"sv, "0."sv, "0u"sv, "0U"sv, "0ull"sv, "0ll"sv, "0LL"sv, "0L"sv};
  const bool zero = std::find(kZeros.begin(), kZeros.end(), initial) != kZeros.end();
  if (combine == "+" || combine == "^" || combine == "|") return zero;
  constexpr std::array kOnes{"1"sv, "1.0"sv, "1.f"sv, "1.0f"sv, "1."sv, "1u"sv, "1U"sv, "1ull"sv, "1ll"sv};
  if (combine == "*") return std::find(kOnes.begin(), kOnes.end(), initial) != kOnes.end();
  constexpr std::array kAllBits{"~0"sv, "~0u"sv, "~0U"sv, "-1"sv, "0xffffffff"sv, "0xffffffffu"sv, "0xFFFFFFFF"sv, "UINT_MAX"sv};
  if (combine == "&") return SizeOf(type) == 4 && std::find(kAllBits.begin(), kAllBits.end(), initial) != kAllBits.end();
  if (combine == "max" && zero) {
    return std::all_of(elements.begin(), elements.end(), [&](int element) {
      if (element < 0) return false;
      const int node = WithoutParentheses(tree, element);
      const auto& sides = tree.node(node).children;
      const auto callee = LibraryCallee(tree, node);
      const bool square = tree.Operator(node) == "*" && SameTokens(tree.Text(sides[0]), tree.Text(sides[1]));
      return callee == "fabsf" || callee == "fabs" || callee == "abs" || type.starts_with("unsigned") || square;
    });
  }
  constexpr std::array kLowest{"-INFINITY"sv, "-FLT_MAX"sv,      "-DBL_MAX"sv, "-__FLT_MAX__"sv,
                               "INT_MIN"sv,   "-2147483647-1"sv, "LLONG_MIN"sv};
  constexpr std::array kHighest{"INFINITY"sv, "FLT_MAX"sv,    "DBL_MAX"sv,  "__FLT_MAX__"sv,
                                "INT_MAX"sv,  "2147483647"sv, "UINT_MAX"sv, "0xffffffffu"sv};
  const bool lowest = std::find(kLowest.begin(), kLowest.end(), initial) != kLowest.end();
  const bool highest = std::find(kHighest.begin(), kHighest.end(), initial) != kHighest.end();
  return combine == "max" ? lowest : highest;
}

std::string NeutralOf(const std::string& combine, const std::string& type) {
  const bool real = type == "float" || type == "double";
  if (combine == "*") return type == "float" ? "1.0f" : real ? "1.0" : "1";
  if (combine == "^" || combine == "|" || combine == "&") return real ? "" : combine == "&" ? "~0" : "0";
  if (combine == "+") return type == "float" ? "0.0f" : real ? "0.0" : "0";
  if (type == "int") return combine == "max" ? "-2147483647 - 1" : "2147483647";
  if (type == "unsigned int") return combine == "max" ? "0u" : "0xffffffffu";
  return "";
}

}  // namespace evo
