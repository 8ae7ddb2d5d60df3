#include "mutators/analysis/source/block_uniform.h"

#include <string_view>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"

namespace evo {
namespace {

// 1 for "threadIdx.x", 2 for .y, 4 for .z; 0 for anything else.
unsigned AxisOf(std::string_view text, std::string_view builtin) {
  if (text.size() != builtin.size() + 2 || !text.starts_with(builtin) || text[builtin.size()] != '.') return 0;
  return text.back() == 'x' ? 1u : text.back() == 'y' ? 2u : text.back() == 'z' ? 4u : 0u;
}

bool IsNeverWritten(const SyntaxTree& tree, int variable) {
  return tree.node(variable).type.starts_with("const ") || IsConstantMemory(tree, variable);
}

// The `for` whose header declares a variable; -1 if there is none.
int LoopOf(const SyntaxTree& tree, int variable) {
  const int statement = tree.node(variable).parent;
  const int loop = statement < 0 ? -1 : tree.node(statement).parent;
  return loop >= 0 && tree.node(loop).kind_name == "ForStmt" && tree.node(loop).children.front() == statement ? loop : -1;
}

}  // namespace

BlockUniform::BlockUniform(const MutationContext& context, int kernel)
    : context_(context), tree_(context.tree), kernel_(kernel), written_(WrittenIn(context.tree, kernel)) {
  if (const auto traffic = TrafficOf(tree_, kernel)) {
    stored_ = traffic->stored;
    traffic_known_ = true;
  }
}

Origins BlockUniform::Of(int expression) const {
  Origins origins;
  Add(expression, origins);
  return origins;
}

bool BlockUniform::IsUniform(int expression) const {
  const Origins origins = Of(expression);
  return origins.known && origins.threads == 0;
}

void BlockUniform::Add(int expression, Origins& origins) const {
  if (!IsPure(tree_, expression)) {
    origins.known = false;
    return;
  }
  for (const int at : Subtree(tree_, expression)) {
    const SyntaxNode& node = tree_.node(at);
    for (const int hidden : node.hidden) AddDeclaration(hidden, origins);
    if (node.kind_name == "MemberRefExpr") {
      origins.threads |= AxisOf(tree_.Text(at), "threadIdx");
      origins.blocks |= AxisOf(tree_.Text(at), "blockIdx");
    }
    if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0) AddDeclaration(node.refers_to, origins);
    if (node.kind_name == "DeclRefExpr" && node.refers_to < 0 && (node.name == "threadIdx" || node.name == "blockIdx")) {
      const std::string_view member = tree_.Text(node.parent);
      if (AxisOf(member, node.name) == 0) origins.known = false;
    }
    const bool element = node.kind_name == "ArraySubscriptExpr" && !node.type.ends_with("]");
    const bool load = element || (node.kind_name == "UnaryOperator" && tree_.Operator(at) == "*");
    if (load && node.converted && (node.children.empty() || !IsUnwritten(node.children.front()))) origins.known = false;
  }
}

void BlockUniform::AddDeclaration(int declaration, Origins& origins) const {
  if (!origins.declarations.insert(declaration).second) return;
  const SyntaxNode& node = tree_.node(declaration);
  if (node.kind_name == "FunctionDecl" || node.kind_name == "FunctionTemplate" || node.kind_name == "TemplateTypeParameter" ||
      node.kind_name == "NonTypeTemplateParameter" || node.kind_name == "TypeAliasDecl" || node.kind_name == "StructDecl" ||
      node.kind_name == "FieldDecl" || node.kind_name == "EnumConstantDecl")
    return;
  if (node.kind_name == "ParmDecl") {
    if (written_.contains(declaration) || !IsWithin(tree_, declaration, kernel_)) origins.known = false;
    return;
  }
  if (node.kind_name != "VarDecl") {
    origins.known = false;
    return;
  }
  if (node.function < 0) {
    if (!IsNeverWritten(tree_, declaration)) origins.known = false;
    return;
  }
  if (const int loop = LoopOf(tree_, declaration); loop >= 0) {
    const auto counted = WithCountedHeader(tree_, loop);
    if (!counted || counted->counter != declaration) {
      origins.known = false;
      return;
    }
    Add(counted->start, origins);
    Add(counted->bound, origins);
    const auto& increment = tree_.node(counted->parts.increment).children;
    if (increment.size() == 2) Add(increment[1], origins);
    return;
  }
  const bool plain = !node.children.empty() && !node.type.ends_with("]") && !node.type.ends_with("&");
  // A constant counts as written where it is named without being read, as in an array's extent; but it cannot change.
  const bool constant = node.type.starts_with("const ") && !node.type.ends_with("*");
  if (!plain || (!constant && (written_.contains(declaration) || IsMemoryName(tree_, declaration)))) {
    origins.known = false;
    return;
  }
  Add(node.children.back(), origins);
}

bool BlockUniform::IsUnwritten(int pointer) const {
  if (IsReadOnlyGlobal(tree_, context_.rendered, pointer)) return true;
  const int root = RootOf(tree_, pointer);
  if (root < 0 || !traffic_known_ || tree_.node(root).function != kernel_ || written_.contains(root)) return false;
  return !stored_.contains(root) && !IsPassedTwice(tree_, context_.rendered, root);
}

bool BlockUniform::IsReachedByAll(int statement, int ignored) const {
  for (int at = statement; tree_.node(at).parent != kernel_; at = tree_.node(at).parent) {
    const int outer = tree_.node(at).parent;
    if (outer < 0) return false;
    const SyntaxNode& node = tree_.node(outer);
    if (node.kind_name == "CompoundStmt" || outer == ignored) continue;
    if (node.kind_name == "IfStmt") {
      if (at == node.children.front() || !IsUniform(node.children.front())) return false;
    } else if (node.kind_name == "ForStmt") {
      const auto loop = WithCountedHeader(tree_, outer);
      if (!loop || at != loop->parts.body) return false;
      for (const int inner : Subtree(tree_, loop->parts.body)) {
        if (tree_.node(inner).kind_name == "BreakStmt" || tree_.node(inner).kind_name == "ContinueStmt") return false;
      }
      const Origins counter = [&] {
        Origins origins;
        AddDeclaration(loop->counter, origins);
        return origins;
      }();
      if (!counter.known || counter.threads != 0) return false;
    } else {
      return false;
    }
  }
  // No thread may leave the kernel without the rest of its block.
  for (const int node : Subtree(tree_, kernel_)) {
    if (tree_.node(node).kind_name == "GotoStmt") return false;
    if (tree_.node(node).kind_name != "ReturnStmt" || (ignored >= 0 && IsWithin(tree_, node, ignored))) continue;
    for (int at = node; tree_.node(at).parent != kernel_; at = tree_.node(at).parent) {
      const int outer = tree_.node(at).parent;
      const SyntaxNode& around = tree_.node(outer);
      if (around.kind_name == "CompoundStmt" || (around.kind_name == "IfStmt" && IsUniform(around.children.front()))) continue;
      return false;
    }
  }
  return true;
}

}  // namespace evo
