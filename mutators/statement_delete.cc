#include "mutators/statement_delete.h"

#include "mutators/syntax_queries.h"

namespace evo {

std::optional<Mutation> StatementDelete::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<int> statements;
  for (const int block : NodesOfKind(tree, "CompoundStmt")) {
    for (const int statement : tree.node(block).children) {
      const SyntaxNode& node = tree.node(statement);
      // Without a declaration what follows does not compile; a pragma must not be left in front of nothing. Barriers stay: a race that
      // usually wins would pass the gate.
      const bool needed = node.kind_name == "DeclStmt" || HasOrderedEffect(tree, statement);
      if (node.is_statement && !needed && StartsItsLine(tree, statement) && !DirectiveAbove(tree, statement)) statements.push_back(statement);
    }
  }
  if (statements.empty()) return std::nullopt;
  const int chosen = statements[rng.Below(statements.size())];
  return Edit{std::string(name()), {tree.AnchorOf(chosen)}, {{0, Placement::kReplace, ""}}, {}, {}};
}

}  // namespace evo
