#include "mutators/analysis/combination.h"

#include <fmt/format.h>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

bool IsExtremeOf(std::string_view callee, std::string_view which) {
  return callee == which || callee == fmt::format("f{}f", which) || callee == fmt::format("f{}", which);
}

}  // namespace

bool IsFold(std::string_view spelled) {
  return spelled == "+" || spelled == "*" || spelled == "^" || spelled == "&" || spelled == "|";
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

}  // namespace evo
