#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

class StatementDelete : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_delete"; }
  bool mostly_wrong() const override { return true; }
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override { return "deletes an expression statement; usually wrong"; }
  double weight() const override { return 0.2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      for (const int statement : tree.node(block).children) {
        const std::string& kind = tree.node(statement).kind_name;
        // Calls without a value stay, above all barriers: a race that usually goes well would pass the gate.
        if (kind == "CallExpr" && tree.node(statement).type == "void") continue;
        const bool expression = kind == "CallExpr" || kind == "BinaryOperator" || kind == "CompoundAssignOperator";
        // The rest still compiles, unless the statement contains a macro call or a preprocessor condition.
        const std::string_view text = tree.Text(statement);
        if (expression && text.ends_with(";") && !tree.node(statement).opaque && text.find('#') == std::string_view::npos)
          proposals.push_back({{{statement, Placement::kReplace, ""}}, {}, {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStatementDelete() { return std::make_unique<StatementDelete>(); }

}  // namespace evo
