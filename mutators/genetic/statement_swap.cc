#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/statement_order.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Whether a statement declares a variable whose initialiser neither loads nor uses threadIdx or blockIdx. The compiler orders
// such statements itself: of 70 exchanges of them, 65 changed nothing.
bool IsOrderedAnyway(const SyntaxTree& tree, int statement) {
  if (tree.node(statement).kind_name != "DeclStmt" || LoadsIn(tree, statement)) return false;
  for (const int node : Subtree(tree, statement)) {
    const SyntaxNode& at = tree.node(node);
    if (at.kind_name == "CallExpr") return false;
    if (at.kind_name == "DeclRefExpr" && (at.name == "threadIdx" || at.name == "blockIdx")) return false;
  }
  return true;
}

class StatementSwap : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_swap"; }
  Promise promise() const override { return Promise::kExact; }
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
        if (IsOrderedAnyway(tree, first) || IsOrderedAnyway(tree, second)) continue;
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
