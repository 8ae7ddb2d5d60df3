#include "mutators/analysis/source/unit_stride.h"

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"

namespace evo {

bool IsUnitStride(const SyntaxTree& tree, int index, const CountedLoop& loop) {
  index = WithoutParentheses(tree, index);
  const SyntaxNode& node = tree.node(index);
  if (node.kind_name == "CStyleCastExpr" && !node.children.empty() && IsArithmetic(node.type) && node.type != "float" &&
      node.type != "double")
    return IsUnitStride(tree, node.children.back(), loop);
  if (NamedDeclaration(tree, index) == loop.counter) return true;
  const std::string_view spelled = tree.Operator(index);
  if (node.kind_name != "BinaryOperator" || node.children.size() != 2 || (spelled != "+" && spelled != "-")) return false;
  const int left = node.children[0];
  const int right = node.children[1];
  if (IsUnitStride(tree, left, loop)) return IsInvariant(tree, right, loop.parts.statement);
  return spelled == "+" && IsUnitStride(tree, right, loop) && IsInvariant(tree, left, loop.parts.statement);
}

bool IsSteadyBase(const SyntaxTree& tree, int base, const CountedLoop& loop) {
  if (tree.node(base).kind_name == "ArraySubscriptExpr" && tree.node(base).children.size() == 2) {
    const auto& parts = tree.node(base).children;
    return tree.node(base).type.ends_with("]") && IsSteadyBase(tree, parts[0], loop) &&
           IsInvariant(tree, parts[1], loop.parts.statement);
  }
  const int declaration = NamedDeclaration(tree, base);
  if (declaration < 0 || IsWithin(tree, declaration, loop.parts.statement)) return false;
  if (WrittenIn(tree, loop.parts.statement).contains(declaration) && !tree.node(declaration).type.ends_with("]")) return false;
  if (tree.node(declaration).type.ends_with("]")) {
    const auto& children = tree.node(declaration).children;
    return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "attribute(shared)"; });
  }
  return tree.node(declaration).type.find('*') != std::string::npos && !IsMemoryName(tree, declaration);
}

}  // namespace evo
