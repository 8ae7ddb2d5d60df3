#include "mutators/statement_swap.h"

#include <algorithm>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

bool Touches(const std::set<std::string>& written, const std::set<std::string>& used) {
  return std::any_of(written.begin(), written.end(), [&](const std::string& name) { return used.count(name) != 0; });
}

bool Independent(const SyntaxTree& tree, int a, int b) {
  if (HasOrderedEffect(tree, a) || HasOrderedEffect(tree, b)) return false;
  return !Touches(NamesWritten(tree, a), NamesIn(tree.Text(b))) && !Touches(NamesWritten(tree, b), NamesIn(tree.Text(a)));
}

}  // namespace

std::optional<Mutation> StatementSwap::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<std::pair<int, int>> pairs;
  for (const int block : NodesOfKind(tree, "CompoundStmt")) {
    const std::vector<int>& statements = tree.node(block).children;
    for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
      const int a = statements[i];
      const int b = statements[i + 1];
      const bool plain = tree.node(a).is_statement && tree.node(b).is_statement && StartsItsLine(tree, a) && StartsItsLine(tree, b);
      if (plain && !DirectiveAbove(tree, a) && !DirectiveAbove(tree, b) && Independent(tree, a, b)) pairs.emplace_back(a, b);
    }
  }
  if (pairs.empty()) return std::nullopt;
  const auto [a, b] = pairs[rng.Below(pairs.size())];
  return Edit{std::string(name()),
              {tree.AnchorOf(a), tree.AnchorOf(b)},
              {{0, Placement::kReplace, std::string(tree.Text(b))}, {1, Placement::kReplace, std::string(tree.Text(a))}},
              {},
              {}};
}

}  // namespace evo
