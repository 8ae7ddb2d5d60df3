#include "mutators/analysis/products/product_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/renderer.h"
#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

class ConditionMover {
 public:
  ConditionMover(const SyntaxTree& tree, int kernel) : tree_(tree), body_(tree.node(kernel).children.back()) {}

  std::optional<std::string> Run() {
    const auto& statements = tree_.node(body_).children;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const SyntaxNode& branch = tree_.node(statements[i]);
      if (branch.kind_name != "IfStmt" || branch.children.size() != 2) continue;
      const int only = OnlyStatement(tree_, branch.children[1]);
      const bool returns = only >= 0 && tree_.node(only).kind_name == "ReturnStmt";
      if (!returns && (statements[i] != statements.back() || tree_.node(branch.children[1]).kind_name != "CompoundStmt"))
        continue;
      terms_.clear();
      AddTerms(branch.children[0], returns ? "||" : "&&");
      const auto one = std::find_if(terms_.begin(), terms_.end(), [&](int term) { return ComparesIndices(term, returns); });
      if (one == terms_.end()) continue;
      const std::string late = returns ? fmt::format("!({})", tree_.Text(*one)) : std::string(tree_.Text(*one));
      std::string rest;
      for (const int term : terms_) {
        if (term != *one) rest += fmt::format("{}{}", rest.empty() ? "" : returns ? " || " : " && ", tree_.Text(term));
      }
      const int block = returns ? body_ : branch.children[1];
      if (rest.empty() && !returns) return std::nullopt;
      if (!Wrap(block, returns ? static_cast<int>(i) : -1, late)) return std::nullopt;
      replacements_.emplace_back(rest.empty() ? statements[i] : branch.children[0], rest);
      return TextWith(tree_, 0, replacements_);
    }
    return std::nullopt;
  }

 private:
  void AddTerms(int condition, std::string_view by) {
    condition = WithoutParentheses(tree_, condition);
    if (tree_.Operator(condition) != by) return terms_.push_back(condition);
    for (const int side : tree_.node(condition).children) AddTerms(side, by);
  }

  bool IsIndex(int variable) const {
    return variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && tree_.node(variable).function >= 0 &&
           IsIntegerType(tree_.node(variable).type);
  }

  // `j <= i`, or `j > i` where that returns: not of elements with equal indices.
  bool ComparesIndices(int term, bool returns) const {
    const auto& sides = tree_.node(term).children;
    const std::string_view spelled = tree_.Operator(term);
    const bool keeps_equal = returns ? spelled == "<" || spelled == ">" : spelled == "<=" || spelled == ">=";
    if (sides.size() != 2 || !keeps_equal) return false;
    const int a = NamedDeclaration(tree_, sides[0]), b = NamedDeclaration(tree_, sides[1]);
    if (a == b || !IsIndex(a) || !IsIndex(b) || tree_.node(a).type != tree_.node(b).type) return false;
    const std::string_view bound = BoundOf(a);
    return !bound.empty() && SameTokens(bound, BoundOf(b));
  }

  // What a variable is below, by the conditions of the body's own branches; empty if none says it.
  std::string_view BoundOf(int variable) const {
    for (const int statement : tree_.node(body_).children) {
      if (tree_.node(statement).kind_name != "IfStmt") continue;
      const int condition = tree_.node(statement).children.front();
      for (const int node : Subtree(tree_, condition)) {
        const auto& sides = tree_.node(node).children;
        const std::string_view spelled = tree_.Operator(node);
        if (sides.size() != 2 || (spelled != "<" && spelled != ">=") || NamedDeclaration(tree_, sides[0]) != variable) continue;
        if (!IsIndex(NamedDeclaration(tree_, sides[1]))) return tree_.Text(sides[1]);
      }
    }
    return "";
  }

  // Puts what follows the only loop of a block under a condition.
  bool Wrap(int block, int behind, const std::string& condition) {
    const auto& statements = tree_.node(block).children;
    int loop = -1;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const std::string& kind = tree_.node(statements[i]).kind_name;
      if (kind != "ForStmt" && kind != "WhileStmt") continue;
      if (loop >= 0 || static_cast<int>(i) < behind) return false;
      loop = static_cast<int>(i);
    }
    if (loop < 0 || static_cast<std::size_t>(loop) + 1 >= statements.size()) return false;
    const auto first = static_cast<std::size_t>(loop) + 1;
    for (std::size_t i = first; i < statements.size(); ++i) {
      std::string text(tree_.Text(statements[i]));
      if (i == first) text = fmt::format("if ({}) {{\n{}", condition, text);
      if (i + 1 == statements.size()) text += "\n}";
      replacements_.emplace_back(statements[i], text);
    }
    return true;
  }

  const SyntaxTree& tree_;
  int body_;
  std::vector<int> terms_;
  Replacements replacements_;
};

}  // namespace

std::optional<std::string> WithLateCondition(const MutationContext& context, int kernel) {
  return ConditionMover(context.tree, kernel).Run();
}

std::optional<std::string> WithSingleDeclarations(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  Replacements single;
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& statement = tree.node(node);
    if (statement.kind_name != "DeclStmt" || statement.children.size() < 2 || !IsInBlock(tree, node)) continue;
    std::string text;
    for (const int variable : statement.children) {
      const SyntaxNode& declared = tree.node(variable);
      if (declared.kind_name != "VarDecl" || !IsIntegerType(declared.type) || declared.children.empty()) break;
      text += fmt::format("{}{} {} = {};", text.empty() ? "" : " ", declared.type, declared.name,
                          tree.Text(declared.children.back()));
      if (variable == statement.children.back()) single.emplace_back(node, text);
    }
  }
  return single.empty() ? std::nullopt : std::optional(TextWith(tree, 0, single));
}

std::optional<std::string> WithBatchesAlongZ(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
  if (launch == nullptr || launch->grid.size() != 2 || launch->block.size() != 1) return std::nullopt;
  Replacements batches;
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& name = tree.node(node);
    if (name.kind_name != "DeclRefExpr" || name.refers_to >= 0) continue;
    const std::string_view member = tree.Text(name.parent);
    if (name.name.ends_with("Dim") && !member.ends_with(".x")) return std::nullopt;
    if (name.name != "blockIdx" || member.ends_with(".x")) continue;
    if (member != "blockIdx.y") return std::nullopt;
    batches.emplace_back(name.parent, "blockIdx.z");
  }
  if (batches.empty()) return std::nullopt;
  const LaunchChange along{launch->kernel, "grid", fmt::format("{}, 1, {}", launch->grid[0].text(), launch->grid[1].text())};
  auto text = RenderLaunchChange(TextWith(tree, 0, batches), along);
  if (!text) return std::nullopt;
  const auto moved = tree.Reparsed(*text);
  if (!moved) return std::nullopt;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
  const MutationContext of_batches{context.kernel_template, context.genome, *moved, rendered, nullptr, context.product_elsewhere};
  if (auto without = WithoutThreadLoops(of_batches, ThreadLoops::kOfBatches)) return without;
  return text;
}

}  // namespace evo
