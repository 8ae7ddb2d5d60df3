#include "mutators/analysis/source/outer_loops.h"

#include <algorithm>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

OuterLoops::OuterLoops(const MutationContext& context, int kernel, const std::set<int>& written) {
  const SyntaxTree& tree = context.tree;
  for (const int node : Subtree(tree, kernel)) {
    const auto loop = WithCountedHeader(tree, node);
    if (!loop || loop->comparison != "<" || loop->step != "1" || tree.Text(loop->start) != "0") continue;
    const std::string bound(tree.Text(loop->bound));
    const int parameter = NamedDeclaration(tree, loop->bound);
    const auto& sizes = context.rendered.size_macros;
    const bool size = std::any_of(sizes.begin(), sizes.end(), [&](const SizeMacro& macro) { return macro.name == bound; });
    const bool passed = parameter >= 0 && tree.node(parameter).kind_name == "ParmDecl" && !written.contains(parameter);
    if (passed || size) loops_.push_back({node, loop->counter, bound, passed ? parameter : -1});
  }
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& variable = tree.node(node);
    if (variable.kind_name != "VarDecl" || variable.children.empty() || written.contains(node) || IsCounter(node)) continue;
    if (!IsIntegerType(variable.type) && !variable.type.ends_with("*")) continue;
    const int value = variable.children.back();
    const auto named = NamedIn(tree, value);
    const auto counts = [&](int d) { return IsCounter(d) || IsOffset(d); };
    const bool counted = IsPure(tree, value) && !LoadsIn(tree, value) && std::any_of(named.begin(), named.end(), counts);
    if (counted) offsets_.insert(node);
  }
}

bool OuterLoops::IsCounter(int variable) const {
  return std::any_of(loops_.begin(), loops_.end(), [&](const OuterLoop& loop) { return loop.counter == variable; });
}

bool OuterLoops::Keep(const SyntaxTree& tree, const std::set<int>& named) {
  std::erase_if(loops_, [&](const OuterLoop& loop) { return !named.contains(loop.counter); });
  for (std::size_t i = 1; i < loops_.size(); ++i) {
    if (!IsWithin(tree, loops_[i].statement, loops_[i - 1].statement)) return false;
  }
  return true;
}

bool OuterLoops::IsOnlyIn(const SyntaxTree& tree, int kernel, const OuterLoop& loop,
                          const std::function<bool(int)>& is_part) const {
  const auto counts = [&](int declaration) { return declaration == loop.counter || IsOffset(declaration); };
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& use = tree.node(node);
    const bool hidden = std::any_of(use.hidden.begin(), use.hidden.end(), counts);
    if (!hidden && (use.kind_name != "DeclRefExpr" || !counts(use.refers_to))) continue;
    bool inside = false;
    for (int at = node; at != kernel && !inside; at = tree.node(at).parent) {
      const bool header = use.refers_to == loop.counter && tree.node(at).parent == loop.statement &&
                          at != tree.node(loop.statement).children.back();
      inside = header || is_part(at);
    }
    if (hidden || !inside) return false;
  }
  return true;
}

}  // namespace evo
