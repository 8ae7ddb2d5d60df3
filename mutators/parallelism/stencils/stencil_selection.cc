#include "mutators/parallelism/stencils/stencil_selection.h"

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Whether a statement reads memory apart from neighbours and weights that threads have in registers, and arrays that always
// exist.
bool ReadsMore(const SyntaxTree& tree, const Stencil& found, const StencilStatements& statements, const StencilWeights& weights,
               int statement) {
  const auto is_kept = [&](int node) {
    const auto within = [&](int other) { return IsWithin(tree, node, other); };
    if (std::any_of(found.sites.begin(), found.sites.end(), [&](const auto& site) { return within(site.node); })) return true;
    if (std::any_of(statements.stored_at().begin(), statements.stored_at().end(),
                    [&](const auto& at) { return within(at.first); }))
      return true;
    return std::any_of(weights.kept().begin(), weights.kept().end(),
                       [&](const auto& table) { return std::any_of(table.nodes.begin(), table.nodes.end(), within); });
  };
  for (const int node : Subtree(tree, statement)) {
    const int pointer = PointerAt(tree, node);
    if (pointer < 0 || is_kept(node)) continue;
    const int root = RootOf(tree, pointer);
    if (root < 0 || tree.node(root).kind_name == "ParmDecl") return true;
  }
  return false;
}

int CountOf(const SyntaxTree& tree, int statement, auto&& is) {
  const auto nodes = Subtree(tree, statement);
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), is));
}

}  // namespace

std::optional<StencilSelection> SelectionIn(const SyntaxTree& tree, const Stencil& found, const StencilFreedom& freedom,
                                            const StencilStatements& statements, const StencilWeights& weights) {
  const std::vector<int>& all = statements.in_loop();
  if (all.size() < 2 || found.stored.size() != 1 || freedom.IsOfElementsOnly(statements)) return std::nullopt;
  const auto is_store = [&](int node) { return IsStore(tree, node); };
  const auto leaves = [&](int node) { return tree.node(node).kind_name == "ReturnStmt"; };
  StencilSelection selection;
  selection.store = all.back();
  if (!is_store(selection.store) || tree.node(selection.store).children.size() != 2) return std::nullopt;
  selection.value = tree.node(selection.store).children[1];
  for (const int statement : all) {
    if (CountOf(tree, statement, leaves) == 0) {
      // Before the statement at edges, what is read is read anyway.
      if (selection.statement < 0) continue;
      const int stores = CountOf(tree, statement, is_store);
      if (stores != (statement == selection.store ? 1 : 0) || ReadsMore(tree, found, statements, weights, statement))
        return std::nullopt;
      continue;
    }
    const SyntaxNode& branch = tree.node(statement);
    if (selection.statement >= 0 || branch.kind_name != "IfStmt" || branch.children.size() != 2) return std::nullopt;
    const SyntaxNode& then = tree.node(branch.children[1]);
    if (then.kind_name != "CompoundStmt" || then.children.size() != 2 || !is_store(then.children[0]) ||
        !leaves(then.children[1]) || tree.node(then.children[0]).children.size() != 2)
      return std::nullopt;
    selection.statement = statement;
    selection.condition = branch.children[0];
    selection.edge = tree.node(then.children[0]).children[1];
    if (CountOf(tree, statement, is_store) != 1 || ReadsMore(tree, found, statements, weights, statement)) return std::nullopt;
  }
  // Both are converted as the store alone would convert them only if they have one type.
  const auto type = [&](int node) { return WithoutConst(tree.node(node).type); };
  if (selection.statement < 0 || !IsPure(tree, selection.edge) || !IsPure(tree, selection.value) ||
      type(selection.edge) != type(selection.value))
    return std::nullopt;
  return selection;
}

}  // namespace evo
