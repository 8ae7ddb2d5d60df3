#include "mutators/analysis/source/statement_order.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

std::set<int> DeclaredIn(const SyntaxTree& tree, int statement) {
  std::set<int> declared;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).kind_name == "VarDecl") declared.insert(node);
  }
  return declared;
}

// Whether a statement declares a type, which later ones may name.
bool DeclaresType(const SyntaxTree& tree, int statement) {
  constexpr std::array<std::string_view, 6> kTypes{"StructDecl", "ClassDecl",   "UnionDecl",
                                                   "EnumDecl",   "TypedefDecl", "TypeAliasDecl"};
  const auto nodes = Subtree(tree, statement);
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) {
    return std::find(kTypes.begin(), kTypes.end(), tree.node(node).kind_name) != kTypes.end();
  });
}

bool Meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return b.contains(x); });
}

}  // namespace

bool IsSimple(const SyntaxTree& tree, int statement) {
  const std::string& kind = tree.node(statement).kind_name;
  if (kind != "DeclStmt" && kind != "BinaryOperator" && kind != "CompoundAssignOperator" && kind != "UnaryOperator") return false;
  if (DeclaresType(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).kind_name == "LambdaExpr") return false;
    if (tree.node(node).kind_name == "attribute(shared)") return false;
    // Calls may synchronise, exchange between threads or write.
    if (tree.node(node).kind_name == "CallExpr" && !IsPure(tree, node)) return false;
  }
  return true;
}

bool AreIndependent(const SyntaxTree& tree, int first, int second) {
  auto changed_first = WrittenIn(tree, first);
  auto changed_second = WrittenIn(tree, second);
  changed_first.merge(DeclaredIn(tree, first));
  changed_second.merge(DeclaredIn(tree, second));
  if (Meet(changed_first, NamedIn(tree, second)) || Meet(changed_second, NamedIn(tree, first))) return false;
  const bool stores_first = StoresIn(tree, first);
  const bool stores_second = StoresIn(tree, second);
  return !(stores_first && (stores_second || LoadsIn(tree, second))) && !(stores_second && LoadsIn(tree, first));
}

bool IsPassable(const SyntaxTree& tree, int statement) {
  if (DeclaresType(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    const SyntaxNode& at = tree.node(node);
    const bool jumps = at.kind_name == "ReturnStmt" || at.kind_name == "BreakStmt" || at.kind_name == "ContinueStmt" ||
                       at.kind_name == "GotoStmt" || at.kind_name == "LabelStmt";
    if (jumps || at.opaque || at.kind_name == "LambdaExpr" || at.kind_name == "attribute(shared)") return false;
    if (at.kind_name.find("Asm") != std::string::npos || at.kind_name == "UnexposedStmt") return false;
    if (at.kind_name == "CallExpr" && !at.name.starts_with("operator") && !IsPure(tree, node)) return false;
  }
  return true;
}

}  // namespace evo
