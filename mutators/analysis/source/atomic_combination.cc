#include "mutators/analysis/source/atomic_combination.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kAtomicCombines{std::pair{"atomicAdd"sv, "+"sv},   std::pair{"atomicMax"sv, "max"sv},
                                     std::pair{"atomicMin"sv, "min"sv}, std::pair{"atomicXor"sv, "^"sv},
                                     std::pair{"atomicAnd"sv, "&"sv},   std::pair{"atomicOr"sv, "|"sv}};

// A function `f(address, value)` that combines by compare and swap.
class SwapReader {
 public:
  SwapReader(const SyntaxTree& tree, int function) : tree_(tree), function_(function) {}

  std::string Combine() {
    if (!FindParameters() || !FindSwap() || !IsLoop()) return "";
    const int swapped = Decoded(tree_.node(swap_).children[3]);
    std::string combine = tree_.Operator(swapped) == "*" ? "*" : "";
    int a = -1, b = -1;
    if (!combine.empty()) {
      a = tree_.node(swapped).children[0];
      b = tree_.node(swapped).children[1];
    } else if (const auto combination = CombinationOf(tree_, swapped)) {
      combine = combination->combine;
      a = combination->a;
      b = combination->b;
    }
    if (a < 0 || b < 0) return "";
    const auto is = [&](int node, int variable) { return NamedDeclaration(tree_, Decoded(node)) == variable; };
    return (is(a, value_) && is(b, assumed_)) || (is(b, value_) && is(a, assumed_)) ? combine : "";
  }

 private:
  bool FindParameters() {
    if (tree_.node(function_).kind_name != "FunctionDecl" || IsKernel(tree_, function_)) return false;
    std::vector<int> parameters;
    for (const int child : tree_.node(function_).children) {
      if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
    }
    if (parameters.size() != 2 || !tree_.node(parameters[0]).type.ends_with('*')) return false;
    address_ = parameters[0];
    value_ = parameters[1];
    const auto written = WrittenIn(tree_, function_);
    return IsArithmetic(WithoutConst(tree_.node(value_).type)) && !written.contains(value_) && !written.contains(address_);
  }

  // The only call that does more than compute. The function declares, swaps and returns.
  bool FindSwap() {
    for (const int node : Subtree(tree_, function_)) {
      const SyntaxNode& at = tree_.node(node);
      if (at.opaque || IsStore(tree_, node)) return false;
      if (at.kind_name != "CallExpr") continue;
      if (LibraryCallee(tree_, node) == "atomicCAS") {
        if (swap_ >= 0 || at.children.size() != 4) return false;
        swap_ = node;
      } else if (!CallsPure(tree_, node)) {
        return false;
      }
    }
    for (const int statement : tree_.node(tree_.node(function_).children.back()).children) {
      const std::string& kind = tree_.node(statement).kind_name;
      if (kind != "DeclStmt" && kind != "DoStmt" && kind != "ReturnStmt") return false;
    }
    return swap_ >= 0 && RootOf(tree_, tree_.node(swap_).children[1]) == address_;
  }

  // `do { assumed = old; old = atomicCAS(..); } while (assumed != old);`
  bool IsLoop() {
    const int assignment = tree_.node(swap_).parent;
    if (tree_.Operator(assignment) != "=") return false;
    const int old = NamedDeclaration(tree_, tree_.node(assignment).children[0]);
    const int body = tree_.node(assignment).parent, loop = tree_.node(body).parent;
    const auto& statements = tree_.node(body).children;
    if (old < 0 || tree_.node(loop).kind_name != "DoStmt" || statements.size() != 2 || statements[1] != assignment) return false;
    const auto& first = tree_.node(statements[0]).children;
    if (tree_.Operator(statements[0]) != "=" || NamedDeclaration(tree_, first[1]) != old) return false;
    assumed_ = NamedDeclaration(tree_, first[0]);
    if (assumed_ < 0 || NamedDeclaration(tree_, tree_.node(swap_).children[2]) != assumed_) return false;
    const int condition = WithoutParentheses(tree_, tree_.node(loop).children[1]);
    const auto& sides = tree_.node(condition).children;
    if (tree_.Operator(condition) != "!=" || sides.size() != 2) return false;
    const int a = NamedDeclaration(tree_, sides[0]), b = NamedDeclaration(tree_, sides[1]);
    return (a == assumed_ && b == old) || (a == old && b == assumed_);
  }

  // Without the calls that take the bits of a number for another type's.
  int Decoded(int expression) const {
    constexpr std::array kBits{"__float_as_int"sv,  "__float_as_uint"sv,      "__int_as_float"sv,
                               "__uint_as_float"sv, "__double_as_longlong"sv, "__longlong_as_double"sv};
    expression = WithoutParentheses(tree_, expression);
    while (std::find(kBits.begin(), kBits.end(), LibraryCallee(tree_, expression)) != kBits.end())
      expression = WithoutParentheses(tree_, tree_.node(expression).children[1]);
    return expression;
  }

  const SyntaxTree& tree_;
  int function_;
  int address_ = -1, value_ = -1;  // parameters
  int swap_ = -1;                  // the call
  int assumed_ = -1;               // what is compared
};

}  // namespace

std::string AtomicCombine(const SyntaxTree& tree, int call) {
  if (tree.node(call).kind_name != "CallExpr" || tree.node(call).children.size() != 3) return "";
  const std::string_view callee = LibraryCallee(tree, call);
  for (const auto& [name, combine] : kAtomicCombines) {
    if (callee == name) return std::string(combine);
  }
  const int function = NamedDeclaration(tree, tree.node(call).children.front());
  if (!callee.empty() || function < 0) return "";
  using Known = std::map<int, std::string>;
  const Known& known = tree.Kept<Known>("functions of compare and swap", [&] {
    Known all;
    for (const int one : Functions(tree)) {
      if (tree.node(one).children.empty() || tree.node(tree.node(one).children.back()).kind_name != "CompoundStmt") continue;
      if (std::string combine = SwapReader(tree, one).Combine(); !combine.empty()) all.emplace(one, std::move(combine));
    }
    return all;
  });
  const auto found = known.find(function);
  return found == known.end() ? "" : found->second;
}

bool IsAtomicCall(const SyntaxTree& tree, int node) {
  return LibraryCallee(tree, node).starts_with("atomic") || !AtomicCombine(tree, node).empty();
}

}  // namespace evo
