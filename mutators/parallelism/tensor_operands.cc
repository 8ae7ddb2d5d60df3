#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/sum_loop.h"
#include "mutators/parallelism/tensor_writer.h"

namespace evo {
namespace {

bool IsExactConversion(std::string_view callee) { return callee == "__half2float" || callee == "__bfloat162float"; }
bool IsCachedLoad(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs";
}
bool IsCast(std::string_view kind) {
  return kind == "CStyleCastExpr" || kind == "CXXStaticCastExpr" || kind == "CXXFunctionalCastExpr";
}

bool IsFloat(std::string_view type) { return type == "float"; }

// The element of a type that `is_element` takes whose value in float an expression is: `a[k]`, `__half2float(a[k])`,
// `float(a[k])`, or the name of a variable that is one of these. -1 if it is anything else.
int ElementBehind(const SyntaxTree& tree, int expression, bool (*is_element)(std::string_view type)) {
  int at = expression;
  while (at >= 0) {
    at = WithoutParentheses(tree, at);
    const SyntaxNode& node = tree.node(at);
    const std::string type = WithoutConst(node.type);
    if (PointerAt(tree, at) >= 0) return is_element(type) ? at : -1;
    // `float(a[k])` calls the element's conversion to float; such nodes have the element's text.
    if (node.children.size() == 1 && tree.Text(node.children.front()) == tree.Text(at)) {
      at = node.children.front();
      continue;
    }
    if (!IsFloat(type) && !is_element(type)) return -1;
    const int variable = NamedDeclaration(tree, at);
    const std::string_view callee = LibraryCallee(tree, at);
    if (variable >= 0) {
      const SyntaxNode& declared = tree.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty()) return -1;
      at = declared.children.back();
    } else if (IsCachedLoad(callee)) {
      return is_element(type) ? node.children[1] : -1;
    } else if ((IsExactConversion(callee) && node.children.size() == 2) || (IsCast(node.kind_name) && type == "float")) {
      at = node.children.back();
    } else {
      return -1;
    }
  }
  return -1;
}

// The type of an element, or of the one whose address an expression is.
std::string ElementType(const SyntaxTree& tree, int load) {
  std::string type = WithoutConst(tree.node(load).type);
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.pop_back();
  return type;
}

// Whether a loop adds the product of the two factors and nothing else.
bool IsPlainProduct(const SyntaxTree& tree, const Contraction& found) {
  const auto sum = OnlySumLoop(tree, found.grid.statements);
  if (!std::holds_alternative<SumLoop>(sum)) return false;
  const int added = WithoutParentheses(tree, std::get<SumLoop>(sum).added);
  const SyntaxNode& node = tree.node(added);
  std::size_t first = 0;
  if (IsFusedMultiplyAdd(LibraryCallee(tree, added)))
    first = 1;
  else if (tree.Operator(added) != "*" || node.children.size() != 2)
    return false;
  const auto is = [&](std::size_t place, int factor) {
    return WithoutParentheses(tree, node.children[first + place]) == WithoutParentheses(tree, factor);
  };
  const int a = found.a.expression, b = found.b.expression;
  return (is(0, a) && is(1, b)) || (is(0, b) && is(1, a));
}

// `elements`: what is_element takes, in words.
std::variant<TensorOperands, std::string> OperandsOf(const SyntaxTree& tree, const Contraction& found,
                                                     bool (*is_element)(std::string_view type), std::string_view elements) {
  const std::string& sum = tree.node(found.accumulator).type;
  if (!IsFloat(sum)) return fmt::format("it sums up in {}, and tensor cores do in float", sum);
  TensorOperands operands;
  for (const auto& [factor, load] : {std::pair(&found.a, &operands.a), std::pair(&found.b, &operands.b)}) {
    *load = ElementBehind(tree, factor->expression, is_element);
    const std::string_view text = tree.Text(factor->expression);
    if (*load < 0) return fmt::format("the factor `{}` is no element of {}", text, elements);
    if (factor->inner == ContractionFactor::Inner::kNeither)
      return fmt::format("no index of `{}` goes along neighbouring elements, which copies of 16 bytes need", text);
    const std::string type = ElementType(tree, *load);
    if (!operands.type.empty() && type != operands.type) return "its factors are of two types, half and bfloat16";
    operands.type = type;
  }
  if (!IsPlainProduct(tree, found)) return "it adds more than the product of two elements";
  return operands;
}

}  // namespace

std::variant<TensorOperands, std::string> AsTensorOperands(const SyntaxTree& tree, const Contraction& found) {
  return OperandsOf(tree, found, IsTensorElement, "half or bfloat16 converted to float");
}

std::variant<TensorOperands, std::string> AsSplitOperands(const SyntaxTree& tree, const Contraction& found) {
  return OperandsOf(tree, found, IsFloat, "float");
}

}  // namespace evo
