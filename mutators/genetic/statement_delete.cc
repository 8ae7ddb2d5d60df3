#include "mutators/analysis/source_query.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

class StatementDelete : public SourceMutator {
 public:
  std::string_view name() const override { return "statement_delete"; }
  bool mostly_wrong() const override { return true; }
  std::string_view description() const override { return "removes an expression statement; mostly wrong, at times a find"; }
  double weight() const override { return 0.2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(tree, "CompoundStmt")) {
      for (const int statement : tree.node(block).children) {
        const std::string& kind = tree.node(statement).kind_name;
        // Calls for their effect stay, barriers above all: a race that usually wins would pass the gate.
        if (kind == "CallExpr" && tree.node(statement).type == "void") continue;
        const bool expression = kind == "CallExpr" || kind == "BinaryOperator" || kind == "CompoundAssignOperator";
        // Without it the rest compiles as before, unless a macro or a condition of the preprocessor goes on behind it.
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
