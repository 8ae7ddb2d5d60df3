#include <algorithm>

#include "mutators/data_flow.h"
#include "mutators/source_mutators.h"
#include "mutators/source_query.h"

namespace evo {
namespace {

// A statement without control flow of its own.
bool IsSimple(const SyntaxTree& tree, int statement) {
  const std::string& kind = tree.node(statement).kind_name;
  if (kind != "DeclStmt" && kind != "BinaryOperator" && kind != "CompoundAssignOperator" && kind != "UnaryOperator") return false;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).kind_name == "LambdaExpr") return false;
    if (tree.node(node).kind_name == "attribute(shared)") return false;
    // Calls may synchronise, exchange between threads or write.
    if (tree.node(node).kind_name == "CallExpr" && !IsPure(tree, node)) return false;
  }
  return true;
}

std::set<int> DeclaredIn(const SyntaxTree& tree, int statement) {
  std::set<int> declared;
  for (const int node : Subtree(tree, statement)) {
    if (tree.node(node).kind_name == "VarDecl") declared.insert(node);
  }
  return declared;
}

bool Meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return b.contains(x); });
}

bool AreIndependent(const SyntaxTree& tree, int first, int second) {
  auto changed_first = WrittenIn(tree, first);
  auto changed_second = WrittenIn(tree, second);
  changed_first.merge(DeclaredIn(tree, first));
  changed_second.merge(DeclaredIn(tree, second));
  if (Meet(changed_first, NamedIn(tree, second)) || Meet(changed_second, NamedIn(tree, first))) return false;
  const bool stores_first = StoresIn(tree, first);
  const bool stores_second = StoresIn(tree, second);
  return !(stores_first && (stores_second || LoadsIn(tree, second))) && !(stores_second && LoadsIn(tree, first));
}

class StatementSwap : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_swap"; }
  std::string_view description() const override {
    return "exchanges two neighbouring statements that do not depend on each other";
  }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      const auto& statements = tree.node(block).children;
      for (std::size_t i = 1; i < statements.size(); ++i) {
        const int first = statements[i - 1];
        const int second = statements[i];
        if (!IsSimple(tree, first) || !IsSimple(tree, second) || !AreIndependent(tree, first, second)) continue;
        proposals.push_back({{{first, Placement::kReplace, std::string(tree.Text(second))},
                              {second, Placement::kReplace, std::string(tree.Text(first))}},
                             {},
                             {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStatementSwap() { return std::make_unique<StatementSwap>(); }

}  // namespace evo
