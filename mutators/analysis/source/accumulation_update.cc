#include "mutators/analysis/source/accumulation_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kExtremes{"fmaxf"sv, "fminf"sv, "fmax"sv, "fmin"sv, "max"sv, "min"sv};

// Whether the value of an expression is used for nothing.
bool IsOwnStatement(const SyntaxTree& tree, int node) {
  const SyntaxNode& parent = tree.node(tree.node(node).parent);
  if (parent.kind_name == "CompoundStmt") return true;
  if (parent.kind_name == "IfStmt") return parent.children.front() != node;
  if (parent.kind_name == "ForStmt") return parent.children.back() == node;
  return tree.Operator(tree.node(node).parent) == "," && IsOwnStatement(tree, tree.node(node).parent);
}

std::optional<Update> AsCountUpdate(const SyntaxTree& tree, int node) {
  if (!IsCount(tree, node) || tree.Operator(node) != "++" || !IsOwnStatement(tree, node)) return std::nullopt;
  const int counted = NamedDeclaration(tree, tree.node(node).children[0]);
  if (counted < 0) return std::nullopt;
  return Update{counted, "+", NamesOf(tree, node, counted)};
}

std::optional<Update> AsAssignedUpdate(const SyntaxTree& tree, int node) {
  if (!IsAssignment(tree, node) || !IsOwnStatement(tree, node)) return std::nullopt;
  const int target = tree.node(node).children[0];
  const int value = tree.node(node).children[1];
  Update update{Owner(tree, target), "", {}};
  if (update.accumulator < 0 || WithoutMembers(tree, target) != target) return std::nullopt;
  update.names = NamesOf(tree, node, update.accumulator);
  if (tree.Operator(node) == "+=" && update.names.size() == 1) {
    update.combine = "+";
    return update;
  }
  const auto& parts = tree.node(value).children;
  const auto is_target = [&](int part) { return SameTokens(tree.Text(part), tree.Text(target)); };
  // `top = f > top ? f : top`
  if (const auto combination = CombinationOf(tree, value); tree.Operator(node) == "=" && update.names.size() == 3 &&
                                                           combination && combination->combine != "+" &&
                                                           is_target(combination->a) != is_target(combination->b)) {
    update.combine = ExtremeOf(combination->combine, tree.node(update.accumulator).type);
    return update;
  }
  if (tree.Operator(node) != "=" || update.names.size() != 2) return std::nullopt;
  if (tree.Operator(value) == "+" && (is_target(parts[0]) || is_target(parts[1]))) {
    update.combine = "+";
    return update;
  }
  // `sum = fmaf(a, b, sum)`, also within another one
  int addend = value;
  while (IsFusedProduct(tree, addend)) addend = WithoutParentheses(tree, tree.node(addend).children[3]);
  if (addend != value && is_target(addend)) {
    update.combine = "+";
    return update;
  }
  const std::string_view callee = LibraryCallee(tree, value);
  if (std::find(kExtremes.begin(), kExtremes.end(), callee) == kExtremes.end() || parts.size() != 3) return std::nullopt;
  if (!is_target(parts[1]) && !is_target(parts[2])) return std::nullopt;
  update.combine = callee;
  return update;
}

std::optional<Update> AsConditionalUpdate(const SyntaxTree& tree, int node) {
  const SyntaxNode& branch = tree.node(node);
  if (branch.kind_name != "IfStmt" || branch.children.size() != 2) return std::nullopt;
  const int assignment = OnlyStatement(tree, branch.children[1]);
  const std::string_view comparison = tree.Operator(branch.children[0]);
  if (assignment < 0 || tree.Operator(assignment) != "=" || (comparison != "<" && comparison != ">")) return std::nullopt;
  const auto& sides = tree.node(branch.children[0]).children;
  const auto& parts = tree.node(assignment).children;
  Update update{NamedDeclaration(tree, parts[0]), "", {}};
  if (update.accumulator < 0) return std::nullopt;
  update.names = NamesOf(tree, node, update.accumulator);
  const bool on_left = NamedDeclaration(tree, sides[0]) == update.accumulator;
  const int other = on_left ? sides[1] : sides[0];
  if (update.names.size() != 2 || (!on_left && NamedDeclaration(tree, sides[1]) != update.accumulator)) return std::nullopt;
  if (!SameTokens(tree.Text(other), tree.Text(parts[1]))) return std::nullopt;
  const std::string& type = tree.node(update.accumulator).type;
  update.combine = ExtremeOf((on_left == (comparison == "<")) ? "max" : "min", type);
  return update;
}

// `if (f > top) { top = f; place = c; }`
std::optional<Update> AsPlaceUpdate(const SyntaxTree& tree, int node) {
  const SyntaxNode& branch = tree.node(node);
  if (branch.kind_name != "IfStmt" || branch.children.size() != 2) return std::nullopt;
  const SyntaxNode& body = tree.node(branch.children[1]);
  const std::string_view comparison = tree.Operator(branch.children[0]);
  if (body.kind_name != "CompoundStmt" || body.children.size() != 2) return std::nullopt;
  if (comparison != "<" && comparison != ">") return std::nullopt;
  for (const int statement : body.children) {
    if (tree.Operator(statement) != "=" || !IsAssignment(tree, statement)) return std::nullopt;
  }
  const auto& sides = tree.node(branch.children[0]).children;
  for (const std::size_t side : {0, 1}) {
    const int top = NamedDeclaration(tree, sides[side]);
    for (const std::size_t first : {0, 1}) {
      const auto& value = tree.node(body.children[first]).children;
      const auto& place = tree.node(body.children[1 - first]).children;
      if (top < 0 || NamedDeclaration(tree, value[0]) != top) continue;
      if (!SameTokens(tree.Text(value[1]), tree.Text(sides[1 - side]))) continue;
      Update update{top, side == 0 ? (comparison == "<" ? ">" : "<") : std::string(comparison), NamesOf(tree, node, top),
                    NamedDeclaration(tree, place[0]), place[1]};
      if (update.names.size() == 2 && update.place >= 0 && update.place != top && NamesOf(tree, node, update.place).size() == 1)
        return update;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Update> UpdateAt(const SyntaxTree& tree, int node) {
  for (const auto& as : {AsPlaceUpdate, AsConditionalUpdate, AsAssignedUpdate, AsCountUpdate}) {
    if (auto update = as(tree, node)) return update;
  }
  return std::nullopt;
}

std::optional<Update> IncreaseOrDecreaseAt(const SyntaxTree& tree, int node) {
  if (auto update = UpdateAt(tree, node)) return update;
  if (!IsAssignment(tree, node) || !IsOwnStatement(tree, node)) return std::nullopt;
  const int target = tree.node(node).children[0], value = tree.node(node).children[1];
  Update update{Owner(tree, target), "+", {}};
  if (update.accumulator < 0 || WithoutMembers(tree, target) != target) return std::nullopt;
  update.names = NamesOf(tree, node, update.accumulator);
  if (tree.Operator(node) == "-=" && update.names.size() == 1) return update;
  const bool both = tree.Operator(node) == "=" && tree.Operator(value) == "-" && update.names.size() == 2;
  if (both && SameTokens(tree.Text(tree.node(value).children[0]), tree.Text(target))) return update;
  return std::nullopt;
}

std::vector<int> NamesOf(const SyntaxTree& tree, int scope, int declaration) {
  std::vector<int> names;
  for (const int node : Subtree(tree, scope)) {
    const SyntaxNode& name = tree.node(node);
    if (name.kind_name == "DeclRefExpr" && name.refers_to == declaration) names.push_back(node);
    if (std::find(name.hidden.begin(), name.hidden.end(), declaration) != name.hidden.end()) names.push_back(-1);
  }
  return names;
}

std::string ExtremeOf(std::string_view which, const std::string& type) {
  return fmt::format("{}{}{}", type == "float" || type == "double" ? "f" : "", which, type == "float" ? "f" : "");
}

}  // namespace evo
