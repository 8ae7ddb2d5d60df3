#include "mutators/analysis/source/dependence.h"

#include <algorithm>
#include <map>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"

namespace evo {
namespace {

bool IsElement(const SyntaxTree& tree, int node) {
  const SyntaxNode& at = tree.node(node);
  if (at.type.ends_with("]")) return false;  // an inner part of a[i][j]
  return at.kind_name == "ArraySubscriptExpr" || (at.kind_name == "UnaryOperator" && tree.Operator(node) == "*");
}

// Whether an assignment is `s += f` or `s = fmaxf(s, f)`. The order of such updates matters only for rounding.
bool IsUpdate(const SyntaxTree& tree, int assignment) {
  const std::string_view spelled = tree.Operator(assignment);
  if (spelled == "+=" || spelled == "-=") return true;
  if (spelled != "=" || NamedDeclaration(tree, tree.node(assignment).children[0]) < 0) return false;
  const int value = tree.node(assignment).children[1];
  const std::string_view callee = LibraryCallee(tree, value);
  if (callee != "fmaxf" && callee != "fminf") return false;
  const auto& arguments = tree.node(value).children;
  return arguments.size() == 3 &&
         NamedDeclaration(tree, arguments[1]) == NamedDeclaration(tree, tree.node(assignment).children[0]);
}

class Analysis {
 public:
  Analysis(const MutationContext& context, int scope, const std::set<int>& counters, const std::set<int>& own)
      : context_(context), tree_(context.tree), scope_(scope), counters_(counters), own_(own) {}

  bool Commutes() {
    if (JumpsOut(tree_, scope_)) return false;
    for (const int at : Subtree(tree_, scope_)) {
      const SyntaxNode& node = tree_.node(at);
      if (node.opaque || node.kind_name == "LambdaExpr" || node.kind_name.find("Asm") != std::string::npos) return false;
      if (node.kind_name == "CallExpr" && !IsPure(tree_, at)) return false;
      if ((IsAssignment(tree_, at) || IsCount(tree_, at)) && !IsHarmlessWrite(at)) return false;
      if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0 && !node.type.ends_with("]") && !IsPrivate(node.refers_to) &&
          IsMemoryName(tree_, node.refers_to))
        return false;
      if (IsElement(tree_, at) && node.converted && !IsHarmlessRead(at)) return false;
    }
    if (stores_elsewhere_ && reads_unknown_) return false;
    // Variables that are updated or stored must have no other uses.
    for (const auto& [declaration, updates] : updated_) {
      if (CountUses(declaration) != updates) return false;
    }
    return true;
  }

 private:
  bool IsPrivate(int declaration) const { return own_.contains(declaration) || IsWithin(tree_, declaration, scope_); }

  std::size_t CountUses(int declaration) const {
    const auto nodes = Subtree(tree_, scope_);
    return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](int at) {
      return tree_.node(at).kind_name == "DeclRefExpr" && tree_.node(at).refers_to == declaration;
    }));
  }

  bool IsHarmlessWrite(int write) {
    const auto& operands = tree_.node(write).children;
    const int target = operands.front();
    const int named = NamedDeclaration(tree_, target);
    if (named >= 0 && IsPrivate(named)) return true;
    if (IsCount(tree_, write)) return false;
    if (named >= 0) {
      if (!IsUpdate(tree_, write)) return false;
      // A sum and a maximum of the same variable do not commute.
      const bool sums = tree_.Operator(write) != "=";
      const std::string kind(sums ? "+" : LibraryCallee(tree_, operands[1]));
      if (kinds_.try_emplace(named, kind).first->second != kind) return false;
      // `s = fmaxf(s, f)` names s twice.
      updated_[named] += tree_.Operator(write) == "=" ? 2 : 1;
      return true;
    }
    if (!IsElement(tree_, target) || tree_.node(target).kind_name != "ArraySubscriptExpr") return false;
    const int root = ArrayOf(tree_, target);
    if (root < 0) return false;
    if (IsPrivate(root)) return IsOwnArray(tree_, root);
    if (!IsUpdate(tree_, write) && !(tree_.Operator(write) == "=" && IsNamedByCounters(target))) return false;
    if (!IsOwnArray(tree_, root)) {
      if (!IsGlobal(context_.tree, context_.rendered, tree_.node(target).children.front())) return false;
      stores_elsewhere_ = true;
    }
    ++updated_[root];
    return true;
  }

  bool IsHarmlessRead(int element) {
    if (IsReadOnlyGlobal(tree_, context_.rendered, tree_.node(element).children.front())) return true;
    const int root = ArrayOf(tree_, element);
    if (root >= 0 && IsOwnArray(tree_, root)) return true;  // Commutes() checks that the array is not also updated
    reads_unknown_ = true;
    return true;
  }

  // Whether an element `a[i][j]` has each counter as one of its subscripts.
  bool IsNamedByCounters(int element) const {
    std::set<int> left = counters_;
    for (int at = element; tree_.node(at).kind_name == "ArraySubscriptExpr"; at = tree_.node(at).children[0]) {
      left.erase(NamedDeclaration(tree_, tree_.node(at).children[1]));
    }
    return left.empty();
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int scope_;
  const std::set<int>& counters_;
  const std::set<int>& own_;
  std::map<int, std::size_t> updated_;  // declarations outside of the scope, with the number of their uses in updates
  std::map<int, std::string> kinds_;    // of the updates of a variable: "+", or the function's name
  bool stores_elsewhere_ = false;
  bool reads_unknown_ = false;
};

}  // namespace

bool IsOwnArray(const SyntaxTree& tree, int declaration) {
  const SyntaxNode& node = tree.node(declaration);
  return node.kind_name == "VarDecl" && node.function >= 0 && node.type.ends_with("]") && !IsMemoryName(tree, declaration);
}

int ArrayOf(const SyntaxTree& tree, int element) {
  while (tree.node(element).kind_name == "ArraySubscriptExpr") element = tree.node(element).children.front();
  return NamedDeclaration(tree, element);
}

bool IterationsCommute(const MutationContext& context, int node, const std::set<int>& counters, const std::set<int>& own) {
  return Analysis(context, node, counters, own).Commutes();
}

bool IsFinalStore(const MutationContext& context, int statement) {
  const SyntaxTree& tree = context.tree;
  if (tree.node(statement).kind_name != "BinaryOperator" || tree.Operator(statement) != "=") return false;
  const auto& operands = tree.node(statement).children;
  if (tree.node(operands[0]).kind_name != "ArraySubscriptExpr" || !IsPure(tree, operands[0]) || !IsPure(tree, operands[1]))
    return false;
  return !LoadsIn(tree, operands[1]) && !LoadsIn(tree, tree.node(operands[0]).children[1]) &&
         IsGlobal(tree, context.rendered, tree.node(operands[0]).children.front());
}

}  // namespace evo
