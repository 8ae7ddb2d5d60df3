// What the text of a stencil's kernel allows: to store later, to compute where no element is, to read weights once.
#include <algorithm>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/parallelism/stencil_writer.h"

namespace evo {
namespace {

// How deep variables are followed to their initialisers.
constexpr int kStencilDepth = 8;

}  // namespace

// Whether an expression is the same for all data: it names sizes, coordinates and what follows from them.
bool StencilWriter::IsOfPlace(int expression, int depth) const {
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

// Whether what a thread stores may be collected and stored at the end: all stores are assignments that every thread makes,
// whatever it read, and nothing reads what they store.
bool StencilWriter::CanStoreLater() const {
  const auto traffic = TrafficOf(tree_, found_.kernel);
  // Items begin at 0, so that they are aligned: elements there must exist.
  if (found_.reads[0].low > 0 || !traffic || traffic->read.contains(-1)) return false;
  for (const auto* buffers : {&found_.buffers, &found_.stored}) {
    for (const int buffer : *buffers) {
      if (SizeOf(PointedTo(tree_, buffer)) == 0) return false;
    }
  }
  for (const int buffer : found_.stored) {
    if (traffic->read.contains(buffer)) return false;
  }
  for (const int node : Subtree(tree_, found_.kernel)) {
    const std::string& kind = tree_.node(node).kind_name;
    const bool stores = IsStore(tree_, node);
    if (stores && tree_.Operator(node) != "=" && tree_.node(node).name != "operator=") return false;
    if (!stores && kind != "ReturnStmt" && kind != "ContinueStmt") continue;
    if (kind == "ContinueStmt" && IsInLoop(node)) continue;  // of a loop within
    for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "IfStmt" && !IsOfPlace(tree_.node(at).children[0], kStencilDepth)) return false;
    }
    if (stores && IsInLoop(node)) return false;
  }
  return true;
}

// Whether a node is in a loop that stays.
bool StencilWriter::IsInLoop(int node) const {
  for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
    const std::string& kind = tree_.node(at).kind_name;
    const bool once = std::any_of(found_.once.begin(), found_.once.end(),
                                  [&](const auto& one) { return tree_.node(tree_.node(one.first).parent).parent == at; });
    if ((kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") && !once) return true;
  }
  return false;
}

// Whether what a thread does may only be done where an element is: it reads, apart from neighbours, what its place decides, it
// divides integers, or it has loops that might not end.
bool StencilWriter::IsOfElementsOnly() const {
  const auto is_common = [&](int name) {
    const SyntaxNode& declared = tree_.node(name);
    return declared.kind_name == "ParmDecl" || declared.function < 0 ||
           std::find(common_.begin(), common_.end(), declared.parent) != common_.end() ||
           found_.loops.contains(tree_.node(declared.parent).parent);
  };
  const auto is_known = [&](int expression) {
    const auto named = NamedIn(tree_, expression);
    return std::all_of(named.begin(), named.end(), is_common);
  };
  for (const int statement : statements_) {
    for (const int node : Subtree(tree_, statement)) {
      const SyntaxNode& one = tree_.node(node);
      const auto within = [&](int other) { return IsWithin(tree_, node, other); };
      if (std::any_of(found_.sites.begin(), found_.sites.end(), [&](const auto& site) { return within(site.node); }) ||
          std::any_of(stored_at_.begin(), stored_at_.end(), [&](const auto& at) { return within(at.first); }))
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

// Whether an expression is known once the loops over neighbours are written out.
bool StencilWriter::IsOfCounters(int expression, int depth) const {
  if (depth == 0 || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
  const auto named = NamedIn(tree_, expression);
  return std::all_of(named.begin(), named.end(), [&](int name) {
    const SyntaxNode& declared = tree_.node(name);
    if (declared.function < 0 || found_.loops.contains(tree_.node(declared.parent).parent)) return true;
    return declared.kind_name == "VarDecl" && !declared.children.empty() && !WrittenIn(tree_, found_.kernel).contains(name) &&
           !found_.roles.contains(name) && IsOfCounters(declared.children.back(), depth - 1);
  });
}

// Whether weights may be read once: nothing but a thread's place decides whether they are read.
bool StencilWriter::IsKept(const Stencil::Table& table) const {
  if (!has_items_ || SizeOf(PointedTo(tree_, table.buffer)) == 0) return false;
  for (const int node : table.nodes) {
    if (!IsOfCounters(tree_.node(node).children[1], kStencilDepth)) return false;
    for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
      const SyntaxNode& around = tree_.node(at);
      if (around.kind_name == "ConditionalOperator" || tree_.Operator(at) == "&&" || tree_.Operator(at) == "||") return false;
      if (around.kind_name == "IfStmt" && !IsOfPlace(around.children[0], kStencilDepth)) return false;
      // Other turns may leave the loop, or skip the read.
      if (!found_.loops.contains(at)) continue;
      for (const int inner : Subtree(tree_, at)) {
        if (tree_.node(inner).kind_name == "IfStmt" && !IsOfPlace(tree_.node(inner).children[0], kStencilDepth)) return false;
      }
    }
  }
  return true;
}

}  // namespace evo
