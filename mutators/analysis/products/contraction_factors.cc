#include "mutators/analysis/products/contraction_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/sum_loop.h"
#include "mutators/analysis/source/work_sharing.h"

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

// Collects the parts of any expression of the two factors.
bool ContractionFactors::SplitAny(int expression) {
  const auto atoms = variables_.In(expression);
  if (atoms.contains(found_.accumulator) || (found_.grid.flat >= 0 && atoms.contains(found_.grid.flat))) return false;
  const int inner = WithoutParentheses(tree_, expression);
  const auto& children = tree_.node(inner).children;
  const bool both = atoms.contains(found_.grid.indices[0].declaration) && atoms.contains(found_.grid.indices[1].declaration);
  if (!both) {
    if (!atoms.empty()) parts_.push_back(inner);
    return IsPure(tree_, expression) && (!atoms.empty() || NeededDeclarations(tree_, {expression}, found_.in_loop).empty());
  }
  const std::string_view spelled = tree_.Operator(inner);
  if (spelled.size() == 1 && "+-*"sv.find(spelled) != std::string_view::npos)
    return std::all_of(children.begin(), children.end(), [&](int side) { return SplitAny(side); });
  const std::string_view callee = LibraryCallee(tree_, inner);
  if (callee == "fabsf" || IsFusedMultiplyAdd(callee))
    return std::all_of(children.begin() + 1, children.end(), [&](int side) { return SplitAny(side); });
  const int variable = NamedDeclaration(tree_, inner);
  if (variable < 0 || !IsOfLoop(variable)) return false;
  if (std::find(combined_.begin(), combined_.end(), variable) != combined_.end()) return true;
  combined_.push_back(variable);
  return SplitAny(tree_.node(variable).children.back());
}

// Whether a variable is declared in the loop by itself, and not changed.
bool ContractionFactors::IsOfLoop(int variable) const {
  const int statement = tree_.node(variable).parent;
  return std::find(found_.in_loop.begin(), found_.in_loop.end(), statement) != found_.in_loop.end() &&
         tree_.node(statement).children.size() == 1 && IsArithmetic(WithoutConst(tree_.node(variable).type)) &&
         !WrittenIn(tree_, found_.grid.kernel).contains(variable);
}

// What an expression that SplitAny knows is where both factors are 0; nullopt if that is not known.
std::optional<double> ContractionFactors::AtZero(int expression) const {
  const int inner = WithoutParentheses(tree_, expression);
  if (std::find(parts_.begin(), parts_.end(), inner) != parts_.end()) return 0;
  const auto& children = tree_.node(inner).children;
  const int variable = NamedDeclaration(tree_, inner);
  if (variable >= 0) return IsOfLoop(variable) ? AtZero(tree_.node(variable).children.back()) : std::nullopt;
  if (LibraryCallee(tree_, inner) == "fabsf" && children.size() == 2) {
    const auto of = AtZero(children[1]);
    return of ? std::optional(std::abs(*of)) : std::nullopt;
  }
  if (children.empty()) return RealConstant(tree_, tree_.Text(inner));
  const bool fused = IsFusedMultiplyAdd(LibraryCallee(tree_, inner)) && children.size() == 4;
  const auto a = AtZero(children[fused ? 1 : 0]);
  if (children.size() == 1 && tree_.Operator(inner) == "-") return a ? std::optional(-*a) : std::nullopt;
  // 0 times what is not known is 0 as well, if it is a number.
  const auto b = children.size() > 1 ? AtZero(children[fused ? 2 : 1]) : std::nullopt;
  if (!a || !b) return std::nullopt;
  if (fused) {
    const auto c = AtZero(children[3]);
    return c ? std::optional(*a * *b + *c) : std::nullopt;
  }
  const std::string_view spelled = tree_.Operator(inner);
  return spelled == "+" ? *a + *b : spelled == "-" ? *a - *b : spelled == "*" ? std::optional(*a * *b) : std::nullopt;
}

// What is no product may be another expression of one factor of each kind. False, with why it is no product, if it is none.
bool ContractionFactors::FindCombined() {
  if (found_.of_words) return false;
  const std::string why = why_;
  parts_.clear();
  if (!SplitAny(product_) || AtZero(product_) != 0.0) {
    combined_.clear();
    return Refuse(why);
  }
  return true;
}

bool ContractionFactors::FindIn(int product) {
  product_ = product;
  if (!Split(product) && !FindCombined()) return false;
  return TakeParts();
}

bool ContractionFactors::TakeParts() {
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
  // The same expression again is the same factor.
  for (const auto& [of, factor] : {std::pair(&of_first, &of_first_), std::pair(&of_second, &of_second_)}) {
    while (of->size() > 1 && SameTokens(tree_.Text(of->front()), tree_.Text(of->back()))) {
      factor->repeated.push_back(of->back());
      of->pop_back();
    }
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
