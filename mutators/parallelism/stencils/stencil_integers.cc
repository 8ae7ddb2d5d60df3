#include "mutators/parallelism/stencils/stencil_integers.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::optional<std::int64_t> StencilIntegers::ValueOf(int expression) {
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  const std::string_view text = tree_.Text(expression);
  const int name = NamedDeclaration(tree_, expression);
  if (const auto variable = variables_.find(name); variable != variables_.end()) return variable->second;
  const bool real = ClassOf(PlainType(node.type)) == TypeClass::kReal;
  if (node.children.empty() || kinds_.KindOf(expression) == ExpressionKind::kName) {
    if (real || (name >= 0 && tree_.node(name).function >= 0)) return std::nullopt;
    const auto number = ConstantValue(tree_, text);
    if (number) Rely(std::string(text));
    return number;
  }
  if (node.children.size() == 1 && tree_.Text(node.children[0]) == text) return ValueOf(node.children[0]);
  switch (kinds_.KindOf(expression)) {
    case ExpressionKind::kUnary:
      return OfUnary(expression);
    case ExpressionKind::kBinary:
      return OfBinary(expression);
    case ExpressionKind::kConditional: {
      const auto condition = ValueOf(node.children[0]);
      return condition ? ValueOf(node.children[*condition != 0 ? 1 : 2]) : std::nullopt;
    }
    case ExpressionKind::kCast: {
      const auto value = real ? std::nullopt : ValueOf(node.children.back());
      return value ? std::optional(NumberType(node.type).Fit(*value)) : std::nullopt;
    }
    case ExpressionKind::kCall:
      return OfCall(expression);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> StencilIntegers::OfUnary(int expression) {
  const std::string_view spelled = kinds_.OperatorOf(expression);
  const auto value = ValueOf(tree_.node(expression).children[0]);
  if (!value) return std::nullopt;
  if (spelled == "-") return -*value;
  if (spelled == "!") return *value == 0;
  return spelled == "+" ? value : std::nullopt;
}

std::optional<std::int64_t> StencilIntegers::OfBinary(int expression) {
  if (IsAssignment(tree_, expression)) return std::nullopt;
  const SyntaxNode& node = tree_.node(expression);
  const std::string_view spelled = kinds_.OperatorOf(expression);
  const auto left = ValueOf(node.children[0]), right = ValueOf(node.children[1]);
  if (spelled == "&&" && ((left && *left == 0) || (right && *right == 0))) return 0;
  if (spelled == "||" && ((left && *left != 0) || (right && *right != 0))) return 1;
  if (!left || !right) return std::nullopt;
  if (spelled == "&&" || spelled == "||") return spelled == "&&";
  const auto result = IntegerOperator(spelled).Result(*left, *right, IsUnsigned(tree_.node(node.children[0]).type));
  return result ? std::optional(NumberType(node.type).Fit(*result)) : std::nullopt;
}

std::optional<std::int64_t> StencilIntegers::OfCall(int expression) {
  const auto& parts = tree_.node(expression).children;
  const std::string_view callee = LibraryCallee(tree_, expression);
  std::vector<std::int64_t> arguments;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto argument = ValueOf(parts[i]);
    if (!argument) return std::nullopt;
    arguments.push_back(*argument);
  }
  if (callee == "abs" && arguments.size() == 1) return std::abs(arguments[0]);
  if (arguments.size() != 2) return std::nullopt;
  if (callee == "min") return std::min(arguments[0], arguments[1]);
  if (callee == "max") return std::max(arguments[0], arguments[1]);
  return std::nullopt;
}

}  // namespace evo
