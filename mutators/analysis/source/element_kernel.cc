#include "mutators/analysis/source/element_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"

namespace evo {
namespace {

// The bound n in `i >= n` or, with `inside`, in `i < n`, which may be one part of a longer condition; -1 if there is none.
int BoundIn(const SyntaxTree& tree, int condition, int index, bool inside) {
  condition = WithoutParentheses(tree, condition);
  const auto& sides = tree.node(condition).children;
  if (sides.size() != 2) return -1;
  const std::string_view spelled = tree.Operator(condition);
  if (spelled == (inside ? "&&" : "||")) {
    const int left = BoundIn(tree, sides[0], index, inside);
    const int right = BoundIn(tree, sides[1], index, inside);
    // The other part must not depend on the index.
    if (left >= 0) return NamedIn(tree, sides[1]).contains(index) ? -1 : left;
    return right >= 0 && !NamedIn(tree, sides[0]).contains(index) ? right : -1;
  }
  if (spelled != (inside ? "<" : ">=") || NamedDeclaration(tree, sides[0]) != index) return -1;
  return sides[1];
}

class ElementKernelFinder {
 public:
  ElementKernelFinder(const MutationContext& context, const ThreadIndex& index)
      : tree_(context.tree), rendered_(context.rendered) {
    element_.index = index;
  }

  std::optional<ElementKernel> Find() {
    if (Cooperates(tree_, element_.index.kernel, false) || IsUsedElsewhere(tree_, element_.index.kernel, "blockIdx"))
      return std::nullopt;
    if (!IsStep(element_.index.extent) || !element_.index.launch->cluster.empty()) return std::nullopt;
    if (!BuiltinUses(tree_, element_.index.kernel, "gridDim", element_.index.axis).empty()) return std::nullopt;
    if (WrittenIn(tree_, element_.index.kernel).contains(element_.index.declaration)) return std::nullopt;
    if (!FindGuard() || !Spread() || !AreApart()) return std::nullopt;
    return element_;
  }

 private:
  // Whether the distance between blocks is the same for all threads of the grid.
  bool IsStep(int extent) const {
    return tree_.Text(extent).find("Idx") == std::string_view::npos && IsInvariant(tree_, extent, element_.index.kernel);
  }

  bool FindGuard() {
    const auto& all = tree_.node(tree_.node(element_.index.statement).parent).children;
    auto at = std::find(all.begin(), all.end(), element_.index.statement) + 1;
    const int index = element_.index.declaration;
    while (at != all.end() && !NamedIn(tree_, *at).contains(index)) ++at;
    if (at == all.end() || tree_.node(*at).kind_name != "IfStmt" || tree_.node(*at).children.size() != 2) return false;
    element_.guard = *at;
    const auto& parts = tree_.node(*at).children;
    int body = parts[1];
    const bool returns =
        tree_.node(body).kind_name == "ReturnStmt" ||
        (tree_.node(body).children.size() == 1 && tree_.node(tree_.node(body).children[0]).kind_name == "ReturnStmt");
    const int bound = BoundIn(tree_, parts[0], index, !returns);
    if (bound < 0 || !IsPure(tree_, bound) || LoadsIn(tree_, bound) || NamedIn(tree_, bound).contains(index)) return false;
    element_.bound = Parenthesised(tree_, bound);
    if (returns) {
      element_.statements.assign(at + 1, all.end());
    } else if (at + 1 == all.end() && tree_.node(body).kind_name == "CompoundStmt") {
      element_.statements = tree_.node(body).children;
    } else if (at + 1 == all.end() && tree_.node(body).kind_name != "IfStmt" && tree_.node(body).kind_name != "ForStmt") {
      element_.statements = {body};
    }
    const auto written = WrittenIn(tree_, element_.index.kernel);
    const auto named = NamedIn(tree_, bound);
    return !element_.statements.empty() && std::none_of(named.begin(), named.end(), [&](int d) { return written.contains(d); });
  }

  // Finds the variables that depend on the index. False if a loop's header or an earlier variable depends on it, or if control
  // flow other than `if` and `for` occurs.
  bool Spread() {
    element_.dependent = {element_.index.declaration};
    for (std::size_t before = 0; before != element_.dependent.size();) {
      before = element_.dependent.size();
      for (const int statement : element_.statements) {
        if (!SpreadIn(statement, false)) return false;
      }
    }
    return true;
  }

  bool Depends(int node) const {
    const auto named = NamedIn(tree_, node);
    return std::any_of(named.begin(), named.end(), [&](int d) { return element_.dependent.contains(d); });
  }

  bool SpreadIn(int node, bool conditional) {
    const SyntaxNode& part = tree_.node(node);
    const std::string& kind = part.kind_name;
    if (kind == "ReturnStmt" || kind == "BreakStmt" || kind == "ContinueStmt" || kind == "WhileStmt" || kind == "DoStmt" ||
        kind == "SwitchStmt" || kind == "GotoStmt" || kind == "CXXForRangeStmt")
      return false;
    for (const int hidden : part.hidden) {
      if (element_.dependent.contains(hidden)) return false;
    }
    if (kind == "ForStmt") {
      const auto loop = AsForLoop(tree_, node);
      if (!loop || Depends(loop->init) || Depends(loop->condition) || Depends(loop->increment)) return false;
      return !conditional && SpreadIn(loop->body, false);
    }
    if (kind == "VarDecl" && (conditional || Depends(node))) {
      if (IsMemoryName(tree_, node)) return false;
      element_.dependent.insert(node);
    }
    // `int a = i, b = j;` is repeated as a whole, so that each variable of it needs a name for each element.
    if (kind == "DeclStmt" &&
        std::any_of(part.children.begin(), part.children.end(), [&](int child) { return element_.dependent.contains(child); })) {
      for (const int child : part.children) {
        if (IsMemoryName(tree_, child)) return false;
        if (tree_.node(child).kind_name == "VarDecl") element_.dependent.insert(child);
      }
    }
    const int target = Assigned(tree_, node);
    if (target >= 0 && !IsStore(tree_, node) && (conditional || Depends(node))) {
      const int owner = Owner(tree_, target);
      if (!IsWithinStatements(owner)) return false;
      element_.dependent.insert(owner);
    }
    const bool asks = kind == "IfStmt" && (conditional || Depends(part.children[0]));
    return std::all_of(part.children.begin(), part.children.end(),
                       [&](int child) { return SpreadIn(child, conditional || asks); });
  }

  bool IsWithinStatements(int declaration) const {
    return std::any_of(element_.statements.begin(), element_.statements.end(),
                       [&](int s) { return IsWithin(tree_, declaration, s); });
  }

  // Whether no element reads what another one stores, and no pointer points to a thread's own array.
  bool AreApart() const {
    const int kernel = element_.index.kernel;
    const auto traffic = TrafficOf(tree_, kernel);
    if (!traffic || traffic->read.contains(-1)) return false;
    for (const int root : traffic->stored) {
      if (traffic->read.contains(root) && !ChangesInPlace(root)) return false;
    }
    bool stores = false;
    for (const int node : Subtree(tree_, kernel)) {
      const SyntaxNode& part = tree_.node(node);
      if (part.kind_name == "ParmDecl" && part.type.find('*') != std::string::npos && IsPassedTwice(tree_, rendered_, node))
        return false;
      if (part.kind_name == "DeclRefExpr" && IsLocalArray(tree_, part.refers_to) &&
          tree_.node(part.parent).kind_name != "ArraySubscriptExpr")
        return false;
      if (LibraryCallee(tree_, node).starts_with("__shfl_") && IsConditional(node)) return false;
      if (!IsStore(tree_, node)) continue;
      const std::string& parent = tree_.node(part.parent).kind_name;
      if (!Depends(node) || !IsWithinStatements(node) || !tree_.Text(node).ends_with(";")) return false;
      if (parent != "CompoundStmt" && parent != "ForStmt" && parent != "IfStmt") return false;
      stores = true;
    }
    return stores;
  }

  // Whether a kernel reads of a buffer only the elements that it stores, spelled alike. If two of a thread's elements were the
  // same one, two threads of the parent would race for it.
  bool ChangesInPlace(int root) const {
    std::set<std::string_view> stored, read;
    for (const int node : Subtree(tree_, element_.index.kernel)) {
      const SyntaxNode& part = tree_.node(node);
      if (part.opaque) return false;
      if (part.kind_name == "CallExpr" && LibraryCallee(tree_, node).empty() && !part.name.starts_with("operator")) {
        for (const int argument : part.children) {
          if (tree_.node(argument).type.ends_with("*") && RootOf(tree_, argument) == root) return false;
        }
      }
      if (PointerAt(tree_, node) < 0 || RootOf(tree_, PointerAt(tree_, node)) != root) continue;
      const int parent = tree_.node(node).parent;
      const bool target = Assigned(tree_, parent) == node;
      if (target) stored.insert(tree_.Text(node));
      if (!target || tree_.Operator(parent) != "=") read.insert(tree_.Text(node));
    }
    return std::includes(stored.begin(), stored.end(), read.begin(), read.end());
  }

  // Whether a call is under a condition, or in a store, which will get one. Not all lanes would reach a shuffle there.
  bool IsConditional(int call) const {
    for (int at = tree_.node(call).parent; at != element_.index.kernel; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "IfStmt" || IsStore(tree_, at)) return true;
    }
    return false;
  }

  const SyntaxTree& tree_;
  const KernelTemplate& rendered_;
  ElementKernel element_;
};

}  // namespace

std::optional<ElementKernel> AsElementKernel(const MutationContext& context, const ThreadIndex& index) {
  return ElementKernelFinder(context, index).Find();
}

LaunchChange DividedGrid(const SyntaxTree& tree, const ThreadIndex& index, int items) {
  // The number of elements per block, as the launch line spells it.
  std::string extent(tree.Text(index.extent));
  if (extent.starts_with("blockDim.") && index.axis < index.launch->block.size()) extent = index.launch->block[index.axis].text();
  const Expression& grid = index.launch->grid[index.axis];
  return WithDimension(*index.launch, "grid", index.axis,
                       BlocksOf(grid, extent, fmt::format("{} * {}", Parenthesised(extent), items),
                                fmt::format("ceil_div({}, {})", grid.text(), items)));
}

}  // namespace evo
