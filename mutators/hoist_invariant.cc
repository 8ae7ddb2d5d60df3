#include "mutators/hoist_invariant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

constexpr std::array<std::string_view, 6> kTypes{"int", "unsigned int", "float", "double", "long", "unsigned long"};

struct Site {
  int expression;
  int loop;
};

// An arithmetic expression whose names the loop around it never writes. Loads stay where they are: another thread may write what they read.
bool Invariant(const SyntaxTree& tree, int expression, const std::set<std::string>& written) {
  for (const int below : tree.Descendants(expression)) {
    const std::string& kind = tree.node(below).kind_name;
    if (kind == "ArraySubscriptExpr" || kind == "CallExpr" || kind == "UnaryOperator" || kind == "CompoundAssignOperator") return false;
  }
  const std::set<std::string> used = NamesIn(tree.Text(expression));
  return !used.empty() && std::none_of(used.begin(), used.end(), [&](const std::string& name) { return written.count(name) != 0; });
}

std::vector<Site> Sites(const SyntaxTree& tree) {
  std::vector<Site> sites;
  for (const int loop : NodesOfKind(tree, "ForStmt")) {
    const int above = tree.node(loop).parent;
    const bool in_block = above >= 0 && tree.node(above).kind_name == "CompoundStmt";
    if (!in_block || !StartsItsLine(tree, loop) || DirectiveAbove(tree, loop)) continue;
    const std::set<std::string> written = NamesWritten(tree, loop);
    for (const int i : tree.Descendants(loop)) {
      const SyntaxNode& node = tree.node(i);
      if (node.kind_name != "BinaryOperator" || node.is_statement) continue;
      const std::string op = OperatorOf(tree, i);
      if (op != "*" && op != "+" && op != "-" && op != "/") continue;
      if (std::find(kTypes.begin(), kTypes.end(), node.type) == kTypes.end()) continue;
      if (Invariant(tree, i, written)) sites.push_back({i, loop});
    }
  }
  return sites;
}

}  // namespace

std::optional<Mutation> HoistInvariant::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  const std::vector<Site> sites = Sites(tree);
  if (sites.empty()) return std::nullopt;
  const Site site = sites[rng.Below(sites.size())];
  std::string constant = "hoisted";
  for (int i = 2; tree.text().find(constant) != std::string::npos; ++i) constant = fmt::format("hoisted_{}", i);
  const std::string declaration = fmt::format("const {} {} = {};\n{}", tree.node(site.expression).type, constant, tree.Text(site.expression), IndentOf(tree, site.loop));
  return Edit{std::string(name()),
              {tree.AnchorOf(site.loop), tree.AnchorOf(site.expression)},
              {{0, Placement::kBefore, declaration}, {1, Placement::kReplace, constant}},
              {},
              {}};
}

}  // namespace evo
