#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/sum_loop.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {
namespace {

// What elements an operator takes, and the type in which their products are added up, to which they convert exactly.
struct Operands {
  bool (*is_element)(std::string_view type);
  std::string_view elements;  // in words
  std::string_view sum;
  std::string_view sums_are;   // what tensor cores do with sums
  std::string_view two_types;  // the types that may not be mixed, in words; empty if they may
  bool only_by_k;              // whether neighbours must go along k, because nothing transposes such elements
};

bool IsExactConversion(std::string_view callee) { return callee == "__half2float" || callee == "__bfloat162float"; }
bool IsCachedLoad(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs";
}
bool IsCast(std::string_view kind) {
  return kind == "CStyleCastExpr" || kind == "CXXStaticCastExpr" || kind == "CXXFunctionalCastExpr";
}

bool IsFloat(std::string_view type) { return type == "float"; }

constexpr std::string_view kSignedWord = "int", kUnsignedWord = "unsigned int";
bool IsSignedWord(std::string_view type) { return type == kSignedWord; }
bool IsUnsignedWord(std::string_view type) { return type == kUnsignedWord; }

// The element whose value an expression is: `a[k]`, `__half2float(a[k])`, `float(a[k])`, `(int)a[k]`, or the name of a variable
// that is one of these. -1 if it is anything else.
int ElementBehind(const SyntaxTree& tree, int expression, const Operands& wanted) {
  int at = expression;
  std::string through;  // the type of elements that a variable on the way has
  while (at >= 0) {
    at = WithoutParentheses(tree, at);
    const SyntaxNode& node = tree.node(at);
    const std::string type = WithoutConst(node.type);
    const bool is_element = wanted.is_element(type);
    if (is_element && !through.empty() && type != through) return -1;
    if (PointerAt(tree, at) >= 0) return is_element ? at : -1;
    // `float(a[k])` calls the element's conversion to float; such nodes have the element's text.
    if (node.children.size() == 1 && tree.Text(node.children.front()) == tree.Text(at)) {
      at = node.children.front();
      continue;
    }
    if (type != wanted.sum && !is_element) return -1;
    if (is_element) through = type;
    const int variable = NamedDeclaration(tree, at);
    const std::string_view callee = LibraryCallee(tree, at);
    if (variable >= 0) {
      const SyntaxNode& declared = tree.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty()) return -1;
      at = declared.children.back();
    } else if (IsCachedLoad(callee)) {
      return is_element ? node.children[1] : -1;
    } else if ((IsExactConversion(callee) && node.children.size() == 2) || (IsCast(node.kind_name) && type == wanted.sum)) {
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
  const auto sum = OnlySumLoop(tree, found.grid.statements, found.of_words);
  if (!std::holds_alternative<SumLoop>(sum)) return false;
  const int added = WithoutParentheses(tree, std::get<SumLoop>(sum).added);
  const SyntaxNode& node = tree.node(added);
  std::size_t first = 0;
  if (found.of_words || IsFusedMultiplyAdd(LibraryCallee(tree, added)))
    first = 1;
  else if (tree.Operator(added) != "*" || node.children.size() != 2)
    return false;
  const auto is = [&](std::size_t place, int factor) {
    return WithoutParentheses(tree, node.children[first + place]) == WithoutParentheses(tree, factor);
  };
  const int a = found.a.expression, b = found.b.expression;
  return (is(0, a) && is(1, b)) || (is(0, b) && is(1, a));
}

std::variant<TensorOperands, std::string> OperandsOf(const SyntaxTree& tree, const Contraction& found, const Operands& wanted) {
  const std::string& sum = tree.node(found.accumulator).type;
  if (sum != wanted.sum) return fmt::format("it sums up in {}, and tensor cores {}", sum, wanted.sums_are);
  TensorOperands operands;
  for (const auto& [factor, load] : {std::pair(&found.a, &operands.a), std::pair(&found.b, &operands.b)}) {
    *load = ElementBehind(tree, factor->expression, wanted);
    const std::string_view text = tree.Text(factor->expression);
    if (*load < 0) return fmt::format("the factor `{}` is no element of {}", text, wanted.elements);
    if (factor->inner == ContractionFactor::Inner::kNeither)
      return fmt::format("no index of `{}` goes along neighbouring elements, which copies of 16 bytes need", text);
    if (wanted.only_by_k && factor->inner != ContractionFactor::Inner::kReduced)
      return fmt::format("neighbouring elements of `{}` do not go along the sum's index, and nothing transposes bytes", text);
    const std::string type = ElementType(tree, *load);
    if (factor == &found.a) operands.type = type;
    operands.type_b = type;
  }
  if (operands.type != operands.type_b && !wanted.two_types.empty())
    return fmt::format("its factors are of two types, {}", wanted.two_types);
  if (!IsPlainProduct(tree, found)) return "it adds more than the product of two elements";
  return operands;
}

}  // namespace

std::variant<TensorOperands, std::string> AsTensorOperands(const SyntaxTree& tree, const Contraction& found) {
  return OperandsOf(tree, found,
                    {IsTensorElement, "half or bfloat16 converted to float", "float", "do in float", "half and bfloat16", false});
}

std::variant<TensorOperands, std::string> AsSplitOperands(const SyntaxTree& tree, const Contraction& found) {
  return OperandsOf(tree, found, {IsFloat, "float", "float", "do in float", "", false});
}

// Bytes, with what may not be mixed.
static std::variant<TensorOperands, std::string> ByteOperands(const SyntaxTree& tree, const Contraction& found,
                                                              std::string_view two_types) {
  return OperandsOf(
      tree, found,
      {IsTensorByte, "signed or unsigned char converted to int", "int", "add up products of bytes in int", two_types, true});
}

std::variant<TensorOperands, std::string> AsIntegerOperands(const SyntaxTree& tree, const Contraction& found) {
  return ByteOperands(tree, found, "signed and unsigned char");
}

std::variant<TensorOperands, std::string> AsMixedOperands(const SyntaxTree& tree, const Contraction& found) {
  if (!found.of_words) return ByteOperands(tree, found, "");
  // __dp4a takes bytes for what the type of their words says.
  const bool has_sign = tree.node(found.accumulator).type != kUnsignedWord;
  return OperandsOf(tree, found,
                    {has_sign ? IsSignedWord : IsUnsignedWord, "words of four bytes", has_sign ? kSignedWord : kUnsignedWord,
                     "add up products of bytes in int", "", true});
}

}  // namespace evo
