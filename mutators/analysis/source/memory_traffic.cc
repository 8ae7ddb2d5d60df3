#include "mutators/analysis/source/memory_traffic.h"

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Bounds how deep pointers are followed through variables.
constexpr int kTrafficDepth = 6;

int RootWithin(const SyntaxTree& tree, int expression, int depth) {
  if (depth == 0) return -1;
  int root = -1;
  for (const int node : Subtree(tree, expression)) {
    const SyntaxNode& name = tree.node(node);
    if (name.kind_name != "DeclRefExpr" || name.type.find('*') == std::string::npos || name.type.find('(') != std::string::npos)
      continue;
    int found = -1;
    if (name.refers_to >= 0) {
      const SyntaxNode& declaration = tree.node(name.refers_to);
      if (declaration.kind_name == "ParmDecl") found = name.refers_to;
      if (declaration.kind_name == "VarDecl" && !declaration.children.empty())
        found = RootWithin(tree, declaration.children.back(), depth - 1);
    }
    if (found < 0 || (root >= 0 && root != found)) return -1;
    root = found;
  }
  return root;
}

}  // namespace

int RootOf(const SyntaxTree& tree, int pointer) { return RootWithin(tree, pointer, kTrafficDepth); }

bool IsLocalArray(const SyntaxTree& tree, int declaration) {
  return declaration >= 0 && tree.node(declaration).kind_name == "VarDecl" && tree.node(declaration).type.ends_with("]");
}

int Owner(const SyntaxTree& tree, int target) {
  const int whole = WithoutMembers(tree, target);
  int owner = whole;
  while (tree.node(owner).kind_name == "ArraySubscriptExpr") owner = tree.node(owner).children.front();
  const int declaration = NamedDeclaration(tree, owner);
  return owner == whole || IsLocalArray(tree, declaration) ? declaration : -1;
}

int Assigned(const SyntaxTree& tree, int node) {
  const SyntaxNode& assignment = tree.node(node);
  if (assignment.children.empty()) return -1;
  const bool by_operator = assignment.kind_name == "CallExpr" && assignment.name.starts_with("operator") &&
                           assignment.name.ends_with("=") && assignment.name != "operator==" && assignment.name != "operator!=";
  return by_operator || IsAssignment(tree, node) || IsCount(tree, node) ? assignment.children.front() : -1;
}

bool IsStore(const SyntaxTree& tree, int node) {
  const int target = Assigned(tree, node);
  if (target < 0) return false;
  const int owner = Owner(tree, target);
  return owner < 0 || IsMemoryName(tree, owner);
}

int PointerAt(const SyntaxTree& tree, int node) {
  const SyntaxNode& access = tree.node(node);
  if (access.children.empty()) return -1;
  if (access.kind_name == "ArraySubscriptExpr") {
    int base = node;
    while (tree.node(base).kind_name == "ArraySubscriptExpr") base = tree.node(base).children.front();
    return IsLocalArray(tree, NamedDeclaration(tree, base)) ? -1 : access.children.front();
  }
  return access.kind_name == "UnaryOperator" && tree.Operator(node) == "*" ? access.children.front() : -1;
}

std::optional<Traffic> TrafficOf(const SyntaxTree& tree, int kernel, const std::set<int>& left_out) {
  Traffic traffic;
  const auto is_left_out = [&](int node) {
    return std::any_of(left_out.begin(), left_out.end(), [&](int statement) { return IsWithin(tree, node, statement); });
  };
  std::set<int> targets;
  for (const int node : Subtree(tree, kernel)) {
    if (!IsStore(tree, node) || is_left_out(node)) continue;
    const int target = Assigned(tree, node);
    const int pointer = PointerAt(tree, WithoutMembers(tree, target));
    const int root = pointer < 0 ? -1 : RootOf(tree, pointer);
    if (root < 0) return std::nullopt;
    traffic.stored.insert(root);
    if (tree.Operator(node) != "=" && tree.node(node).name != "operator=") continue;
    targets.insert(target);
    targets.insert(WithoutMembers(tree, target));  // `out[i].r` reads nothing of `out[i]`
  }
  for (const int node : Subtree(tree, kernel)) {
    if (is_left_out(node)) continue;
    const SyntaxNode& name = tree.node(node);
    // A function may read through the pointers that it is passed.
    const bool argument = name.kind_name == "CallExpr" && !name.name.starts_with("operator");
    for (const int part : argument ? name.children : std::vector<int>{}) {
      if (tree.node(part).type.find('*') != std::string::npos && tree.node(part).type.find('(') == std::string::npos)
        traffic.read.insert(RootOf(tree, part));
    }
    const int pointer = PointerAt(tree, node);
    if (pointer >= 0 && !targets.contains(node)) traffic.read.insert(RootOf(tree, pointer));
  }
  return traffic;
}

}  // namespace evo
