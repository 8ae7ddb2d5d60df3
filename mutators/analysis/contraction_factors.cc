#include "mutators/analysis/contraction_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/affine_index.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/sum_loop.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

bool IsFactorType(const std::string& type) {
  constexpr std::array kBytes{"char"sv, "signed char"sv, "unsigned char"sv};
  return IsArithmetic(type) || std::find(kBytes.begin(), kBytes.end(), type) != kBytes.end();
}

}  // namespace

bool ContractionFactors::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

std::string ContractionFactors::Quoted(int node) const { return fmt::format("`{}`", tree_.Text(node)); }

// Collects the factors of a product: the largest parts that do not depend on both indices.
bool ContractionFactors::Split(int expression) {
  if (expression == product_ && (found_.of_words || IsFusedMultiplyAdd(LibraryCallee(tree_, expression)))) {
    const auto& arguments = tree_.node(expression).children;
    return Split(arguments[1]) && Split(arguments[2]);
  }
  const auto atoms = variables_.In(expression);
  const bool first = atoms.contains(found_.grid.indices[0].declaration);
  const bool second = atoms.contains(found_.grid.indices[1].declaration);
  if (atoms.contains(found_.grid.flat) && found_.grid.flat >= 0)
    return Refuse(fmt::format("{} depends on {} itself", Quoted(expression), tree_.node(found_.grid.flat).name));
  if (atoms.contains(found_.accumulator)) return Refuse("its products depend on the sum so far");
  if (!first || !second) {
    if (!atoms.empty())
      parts_.push_back(expression);
    else if (!NeededDeclarations(tree_, {expression}, found_.in_loop).empty())
      return Refuse(fmt::format("{} is the same in every iteration but declared in the loop", Quoted(expression)));
    return IsPure(tree_, expression) || Refuse(fmt::format("{} may do more than compute a value", Quoted(expression)));
  }
  const int inner = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(inner).children;
  if (tree_.Operator(inner) == "*" && sides.size() == 2) return Split(sides[0]) && Split(sides[1]);
  // A variable of the loop that is the product itself.
  if (const int variable = NamedDeclaration(tree_, inner); variable >= 0) {
    return Refuse(fmt::format("{} is a product by the name of a variable; write the product where it is added", Quoted(inner)));
  }
  return Refuse(fmt::format("{} is no product of two factors of which each depends on one index", Quoted(inner)));
}

bool ContractionFactors::FindIn(int product) {
  product_ = product;
  if (!Split(product)) return false;
  const ElementGrid::Index& first = found_.grid.indices[0];
  const ElementGrid::Index& second = found_.grid.indices[1];
  std::vector<int> of_first, of_second;
  for (const int factor : parts_) {
    const auto atoms = variables_.In(factor);
    if (!atoms.contains(found_.k.counter))
      return Refuse(fmt::format("the factor {} does not depend on {}", Quoted(factor), tree_.node(found_.k.counter).name));
    if (atoms.contains(first.declaration))
      of_first.push_back(factor);
    else if (atoms.contains(second.declaration))
      of_second.push_back(factor);
    else
      return Refuse(fmt::format("the factor {} depends on {} alone", Quoted(factor), tree_.node(found_.k.counter).name));
  }
  if (of_first.size() != 1 || of_second.size() != 1) {
    return Refuse(fmt::format("{} factors depend on {} and {} on {}; one of each is needed", of_first.size(),
                              tree_.node(first.declaration).name, of_second.size(), tree_.node(second.declaration).name));
  }
  of_first_.expression = of_first[0], of_second_.expression = of_second[0];
  return CheckFactor(of_first_, first) && CheckFactor(of_second_, second);
}

bool ContractionFactors::CheckFactor(ContractionFactor& factor, const ElementGrid::Index& index) {
  const std::string type = WithoutConst(tree_.node(factor.expression).type);
  if (!IsFactorType(type)) return Refuse(fmt::format("the factor {} is of the type {}", Quoted(factor.expression), type));
  std::vector<int> declarations = found_.before;
  declarations.insert(declarations.end(), found_.in_loop.begin(), found_.in_loop.end());
  std::vector<int> nodes = NeededDeclarations(tree_, {factor.expression}, declarations);
  nodes.push_back(factor.expression);
  int loads = 0;
  for (const int part : nodes) {
    for (const int node : Subtree(tree_, part)) {
      const SyntaxNode& access = tree_.node(node);
      if (access.opaque) return Refuse(fmt::format("the macro {} is not looked into", Quoted(node)));
      if (PointerAt(tree_, node) < 0 || IsAddressOnly(node)) continue;
      ++loads;
      if (!CheckLoad(node, index, factor)) return false;
    }
  }
  if (loads == 0) return Refuse(fmt::format("the factor {} loads nothing", Quoted(factor.expression)));
  return true;
}

// Whether `p[i]` occurs as `&p[i]` in the initialiser of a pointer, where it loads nothing.
bool ContractionFactors::IsAddressOnly(int access) const {
  const int parent = tree_.node(access).parent;
  if (tree_.Operator(parent) != "&" || tree_.node(parent).kind_name != "UnaryOperator") return false;
  return tree_.node(tree_.node(parent).parent).kind_name != "CallExpr";
}

bool ContractionFactors::CheckLoad(int access, const ElementGrid::Index& index, ContractionFactor& factor) {
  if (!uniform_.IsUnwritten(PointerAt(tree_, access)))
    return Refuse(fmt::format("{} may be written while the kernel runs", Quoted(access)));
  // Words are often read through pointers to bytes.
  const auto element = found_.of_words ? AffineElementBehindCasts(tree_, access, variables_.Indices())
                                       : AffineElementOf(tree_, access, variables_.Indices());
  if (!element) return Refuse(fmt::format("the index of {} is no sum of products of sizes and indices", Quoted(access)));
  const auto by_k = element->index.CoefficientOf(found_.k.counter);
  const auto by_output = element->index.CoefficientOf(index.declaration);
  if (!by_k || !by_output) return Refuse(fmt::format("the index of {} is not linear", Quoted(access)));
  if (by_k->IsConstant(1)) factor.inner = ContractionFactor::Inner::kReduced;
  if (by_output->IsConstant(1)) factor.inner = ContractionFactor::Inner::kOutput;
  return true;
}

}  // namespace evo
