#include "mutators/analysis/source/early_return.h"

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Whether a use of threadIdx is `threadIdx.x / 32` in blocks of one dimension, the same for all lanes of a warp.
bool IsWarpNumber(const SyntaxTree& tree, int name) {
  const int member = tree.node(name).parent;
  const bool flat = tree.text().find("threadIdx.y") == std::string::npos;
  if (!flat || tree.Text(member) != "threadIdx.x") return false;
  const int quotient = tree.node(member).parent;
  const auto& sides = tree.node(quotient).children;
  if (sides.size() != 2 || sides[0] != member) return false;
  const std::string_view spelled = tree.Operator(quotient);
  return (spelled == "/" && tree.Text(sides[1]) == "32") || (spelled == ">>" && tree.Text(sides[1]) == "5");
}

// Bounds how deep variables are followed to their initialisers.
constexpr int kReturnDepth = 6;

bool IsSame(const SyntaxTree& tree, int expression, Cooperation group, int depth) {
  if (depth == 0 || !IsPure(tree, expression) || LoadsIn(tree, expression)) return false;
  for (const int node : Subtree(tree, expression)) {
    const SyntaxNode& at = tree.node(node);
    if (!at.hidden.empty() || at.opaque) return false;
    if (at.kind_name != "DeclRefExpr") continue;
    if (at.name == "threadIdx" && !(group == Cooperation::kWarp && IsWarpNumber(tree, node))) return false;
    if (at.refers_to < 0 || tree.node(at.refers_to).function < 0) continue;
    const SyntaxNode& variable = tree.node(at.refers_to);
    if (WrittenIn(tree, variable.function).contains(at.refers_to)) return false;
    if (variable.kind_name == "ParmDecl") {
      if (!IsKernel(tree, variable.function)) return false;
    } else if (variable.kind_name != "VarDecl" || variable.children.empty() ||
               !IsSame(tree, variable.children.back(), group, depth - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Cooperation CooperationIn(const SyntaxTree& tree) {
  if (!NodesOfKind(tree, "attribute(shared)").empty()) return Cooperation::kBlock;
  Cooperation cooperation = Cooperation::kNone;
  for (const int call : NodesOfKind(tree, "CallExpr")) {
    const std::string_view callee = LibraryCallee(tree, call);
    if (callee.starts_with("__sync") && callee != "__syncwarp") return Cooperation::kBlock;
    if (callee.ends_with("_sync") || callee == "__syncwarp" || callee == "__activemask") cooperation = Cooperation::kWarp;
  }
  return cooperation;
}

bool ReturnsTogether(const SyntaxTree& tree, int condition, Cooperation cooperation) {
  return cooperation == Cooperation::kNone || IsSame(tree, condition, cooperation, kReturnDepth);
}

}  // namespace evo
