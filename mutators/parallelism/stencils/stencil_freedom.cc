#include "mutators/parallelism/stencils/stencil_freedom.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/stencils/stencil_effects.h"
#include "mutators/analysis/stencils/stencil_tile.h"

namespace evo {

bool StencilFreedom::IsOfPlace(int expression, int depth) const {
  if (depth == 0 || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
  const std::set<int> written = WrittenIn(tree_, found_.kernel);
  const auto named = NamedIn(tree_, expression);
  return std::all_of(named.begin(), named.end(), [&](int name) {
    const SyntaxNode& declared = tree_.node(name);
    const std::string type = WithoutConst(declared.type);
    if (found_.once.contains(name) || found_.loops.contains(tree_.node(declared.parent).parent)) return true;  // a counter
    if (type == "float" || type == "double" || (type != "bool" && !IsArithmetic(type)) || written.contains(name)) return false;
    if (declared.kind_name == "ParmDecl" || declared.function < 0) return true;
    return declared.kind_name == "VarDecl" && !declared.children.empty() && IsOfPlace(declared.children.back(), depth - 1);
  });
}

bool StencilFreedom::CanStoreLater() const {
  const auto traffic = TrafficOf(tree_, found_.kernel, found_.Beside());
  // Items begin at 0, so that they are aligned: elements there must exist.
  if (!found_.reads[0].BeginsAtZero() || !traffic || traffic->read.contains(-1)) return false;
  for (const auto* buffers : {&found_.buffers, &found_.stored}) {
    for (const int buffer : *buffers) {
      if (SizeOf(PointedTo(tree_, buffer)) == 0) return false;
    }
  }
  for (const int buffer : found_.stored) {
    if (traffic->read.contains(buffer) && MayReadBack(buffer)) return false;
  }
  for (const int node : Subtree(tree_, found_.kernel)) {
    const std::string& kind = tree_.node(node).kind_name;
    if (IsOfTile(tree_, found_, node) || IsOfEffects(tree_, found_.effects, node)) continue;
    const bool stores = IsStore(tree_, node);
    // A part of an element leaves the rest as it was.
    if (stores && PointerAt(tree_, Assigned(tree_, node)) < 0) return false;
    if (stores && tree_.Operator(node) != "=" && tree_.node(node).name != "operator=") return false;
    if (!stores && kind != "ReturnStmt" && kind != "ContinueStmt") continue;
    if (kind == "ContinueStmt" && IsInLoop(node)) continue;  // of a loop within
    for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "IfStmt" && !IsOfPlace(tree_.node(at).children[0])) return false;
    }
    if (stores && IsInLoop(node)) return false;
  }
  return true;
}

// Whether a thread may read of a buffer what it has stored there. It reads nothing there that others store.
bool StencilFreedom::MayReadBack(int buffer) const {
  std::vector<int> reads, stores;
  for (const int use : tree_.UsesOf(buffer)) {
    const int element = tree_.node(use).parent;
    if (tree_.node(element).kind_name != "ArraySubscriptExpr" || tree_.node(element).children[0] != use) return true;
    const int parent = tree_.node(element).parent;
    const bool is_target = IsStore(tree_, parent) && Assigned(tree_, parent) == element;
    (is_target ? stores : reads).push_back(is_target ? parent : element);
  }
  return std::any_of(stores.begin(), stores.end(), [&](int store) {
    return !std::all_of(reads.begin(), reads.end(), [&](int read) { return NeverBefore(store, read); });
  });
}

// Whether no thread stores by the first node and reads by the second one afterwards.
bool StencilFreedom::NeverBefore(int store, int read) const {
  if (IsInLoop(store)) return false;
  if (tree_.node(read).range.begin < tree_.node(store).range.end) return true;
  for (int at = store; at != found_.kernel; at = tree_.node(at).parent) {
    const SyntaxNode& around = tree_.node(tree_.node(at).parent);
    const int block = tree_.node(at).parent;
    if (around.kind_name == "CompoundStmt" && tree_.node(around.children.back()).kind_name == "ReturnStmt" &&
        !IsWithin(tree_, read, block))
      return true;
    if (around.kind_name != "IfStmt" || around.children.size() != 3 || around.children[1] != at) continue;
    if (IsWithin(tree_, read, around.children[2])) return true;
  }
  return false;
}

// Whether a node is in a loop that stays.
bool StencilFreedom::IsInLoop(int node) const {
  for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
    const std::string& kind = tree_.node(at).kind_name;
    const bool once = std::any_of(found_.once.begin(), found_.once.end(),
                                  [&](const auto& one) { return tree_.node(tree_.node(one.first).parent).parent == at; });
    if ((kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") && !once) return true;
  }
  return false;
}

bool StencilFreedom::IsOfElementsOnly(const StencilStatements& kept) const {
  if (!found_.effects.empty()) return true;
  const auto is_common = [&](int name) {
    const SyntaxNode& declared = tree_.node(name);
    return declared.kind_name == "ParmDecl" || declared.function < 0 ||
           std::find(kept.common().begin(), kept.common().end(), declared.parent) != kept.common().end() ||
           found_.loops.contains(tree_.node(declared.parent).parent);
  };
  const auto is_known = [&](int expression) {
    const auto named = NamedIn(tree_, expression);
    return std::all_of(named.begin(), named.end(), is_common);
  };
  for (const int statement : kept.in_loop()) {
    for (const int node : Subtree(tree_, statement)) {
      const SyntaxNode& one = tree_.node(node);
      const auto within = [&](int other) { return IsWithin(tree_, node, other); };
      if (std::any_of(found_.sites.begin(), found_.sites.end(), [&](const auto& site) { return within(site.node); }) ||
          std::any_of(kept.stored_at().begin(), kept.stored_at().end(), [&](const auto& at) { return within(at.first); }))
        continue;
      const bool loop = one.kind_name == "ForStmt" || one.kind_name == "WhileStmt" || one.kind_name == "DoStmt";
      if (loop && !found_.loops.contains(node)) return true;
      if (one.kind_name == "CallExpr" && LibraryCallee(tree_, node).empty()) return true;
      const std::string_view spelled = tree_.Operator(node);
      const std::string type = WithoutConst(one.type);
      if ((spelled.starts_with("/") || spelled.starts_with("%")) && type != "float" && type != "double" &&
          !ConstantValue(tree_, tree_.Text(one.children.back())))
        return true;
      if (one.kind_name == "ArraySubscriptExpr" && !is_known(one.children[1])) return true;
      if (const int pointer = PointerAt(tree_, node); pointer >= 0 && !is_known(pointer)) return true;
    }
  }
  return false;
}

}  // namespace evo
