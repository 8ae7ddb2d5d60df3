#include "mutators/analysis/scans/running_sum.h"

#include <algorithm>
#include <set>

#include "mutators/analysis/source/accumulation_update.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

class RunningSumFinder {
 public:
  RunningSumFinder(const SyntaxTree& tree, const CountedLoop& loop)
      : tree_(tree), body_(loop.parts.body), written_(WrittenIn(tree, loop.parts.body)) {}

  std::optional<RunningSum> Find() const {
    if (tree_.node(body_).kind_name != "CompoundStmt" || JumpsOut(tree_, body_)) return std::nullopt;
    for (const int statement : tree_.node(body_).children) {
      const auto update = UpdateAt(tree_, statement);
      if (!update || update->combine != "+" || IsWithin(tree_, update->accumulator, body_)) continue;
      RunningSum found{update->accumulator, statement, TermOf(*update, statement), {}, false, false};
      if (found.term < 0 || IsMemoryName(tree_, found.sum)) return std::nullopt;
      if (!IsReadOnlyBeside(found) || !AddStatements(found) || !LoadsBeforeStores(found)) return std::nullopt;
      return found;
    }
    return std::nullopt;
  }

 private:
  // f in `sum += f`, `sum = sum + f` and `sum = f + sum`.
  int TermOf(const Update& update, int statement) const {
    if (!IsAssignment(tree_, statement) || IsLocalArray(tree_, update.accumulator)) return -1;
    const int value = tree_.node(statement).children[1];
    if (tree_.Operator(statement) == "+=") return value;
    const auto& parts = tree_.node(WithoutParentheses(tree_, value)).children;
    if (parts.size() != 2) return -1;
    return NamedDeclaration(tree_, parts[0]) == update.accumulator ? parts[1] : parts[0];
  }

  // Whether nothing but the update changes the sum; finds out where it is read.
  bool IsReadOnlyBeside(RunningSum& found) const {
    const SourceRange update = tree_.node(found.update).range;
    for (const int name : NamesOf(tree_, body_, found.sum)) {
      if (name < 0) return false;
      if (update.Contains(tree_.node(name).range)) continue;
      if (!tree_.node(name).converted) return false;
      (tree_.node(name).range.begin < update.begin ? found.exclusive : found.inclusive) = true;
    }
    return true;
  }

  // The declarations before the update from which the term follows; they must give the same whenever they are evaluated.
  bool AddStatements(RunningSum& found) const {
    std::set<int> needed = NamedIn(tree_, found.term);
    if (!IsPure(tree_, found.term)) return false;
    const auto& children = tree_.node(body_).children;
    const auto update = std::find(children.begin(), children.end(), found.update);
    for (auto at = std::make_reverse_iterator(update); at != children.rend(); ++at) {
      if (tree_.node(*at).kind_name != "DeclStmt") continue;
      bool needs = false;
      for (const int variable : tree_.node(*at).children) needs = needs || needed.contains(variable);
      if (!needs) continue;
      for (const int variable : tree_.node(*at).children) {
        const SyntaxNode& node = tree_.node(variable);
        if (node.kind_name != "VarDecl" || node.children.empty() || node.type.find_first_of("&[") != std::string::npos)
          return false;
        if (!IsPure(tree_, node.children.back()) || written_.contains(variable)) return false;
        needed.merge(NamedIn(tree_, node.children.back()));
      }
      found.statements.insert(found.statements.begin(), *at);
    }
    return std::none_of(needed.begin(), needed.end(), [&](int name) {
      return name == found.sum || written_.contains(name) || (IsWithin(tree_, name, body_) && !IsDeclaredIn(found, name));
    });
  }

  bool IsDeclaredIn(const RunningSum& found, int name) const {
    return std::any_of(found.statements.begin(), found.statements.end(), [&](int at) { return IsWithin(tree_, name, at); });
  }

  // Whether no store comes before the loads of the same buffer that make the term.
  bool LoadsBeforeStores(const RunningSum& found) const {
    std::vector<int> loading = found.statements;
    loading.push_back(found.term);
    for (const int store : Subtree(tree_, body_)) {
      if (!IsStore(tree_, store)) continue;
      const int root = RootOf(tree_, PointerAt(tree_, Assigned(tree_, store)));
      for (const int part : loading) {
        for (const int node : Subtree(tree_, part)) {
          const int pointer = PointerAt(tree_, node);
          const bool same = pointer >= 0 && (root < 0 || RootOf(tree_, pointer) == root);
          if (same && tree_.node(store).range.begin < tree_.node(node).range.begin) return false;
        }
      }
    }
    return true;
  }

  const SyntaxTree& tree_;
  int body_;
  std::set<int> written_;
};

}  // namespace

std::optional<RunningSum> AsRunningSum(const SyntaxTree& tree, const CountedLoop& loop) {
  return RunningSumFinder(tree, loop).Find();
}

}  // namespace evo
