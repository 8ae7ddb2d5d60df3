#include <fmt/format.h>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The loops around a division in which the divisor does not change, innermost first.
std::vector<int> LoopsWithSame(const SyntaxTree& tree, int division, int divisor) {
  std::vector<int> loops;
  for (int at = tree.node(division).parent; at > 0 && at != tree.node(division).function; at = tree.node(at).parent) {
    if (!AsForLoop(tree, at)) continue;
    if (!IsInvariant(tree, divisor, at)) break;
    if (IsInBlock(tree, at)) loops.push_back(at);
  }
  return loops;
}

bool IsFloatDivision(const SyntaxTree& tree, int node) {
  const SyntaxNode& division = tree.node(node);
  const std::string_view spelled = tree.Operator(node);
  if (division.type != "float" || division.function < 0 || (spelled != "/" && spelled != "/=")) return false;
  return WithoutConst(tree.node(division.children[0]).type) == "float" &&
         WithoutConst(tree.node(division.children[1]).type) == "float";
}

class Reciprocal : public SourceMutator {
 public:
  std::string_view name() const override { return "reciprocal"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "divides once before a loop and multiplies by the reciprocal in it"; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (!IsFloatDivision(tree, node)) continue;
      for (const int loop : LoopsWithSame(tree, node, tree.node(node).children[1])) {
        Proposal proposal = DivideOnce(tree, tree.node(node).children[1], loop);
        // If the loop divides by the same value several times, only the first division makes a proposal.
        if (proposal.changes.at(1).node == node) proposals.push_back(std::move(proposal));
      }
    }
    return proposals;
  }

 private:
  static Proposal DivideOnce(const SyntaxTree& tree, int divisor, int loop) {
    const std::string name = FreshName(tree, "inverse");
    const std::string declaration = fmt::format("const float {} = 1.0f / {};", name, Parenthesised(tree, divisor));
    Proposal proposal;
    proposal.changes.push_back({FirstNode(tree, loop), Placement::kBefore, LineBefore(tree, loop, declaration)});
    std::uint32_t done = 0;  // end of the last replaced division; divisions nested in it stay
    for (const int node : Subtree(tree, loop)) {
      if (!IsFloatDivision(tree, node) || tree.node(node).range.begin < done) continue;
      const auto& sides = tree.node(node).children;
      if (tree.Text(sides[1]) != tree.Text(divisor) || !IsInvariant(tree, sides[1], loop)) continue;
      done = tree.node(node).range.end;
      const bool statement = tree.Text(node).ends_with(";");
      const bool assigns = tree.Operator(node) == "/=";
      proposal.changes.push_back(
          {node, Placement::kReplace,
           fmt::format("{} {} {}{}", tree.Text(sides[0]), assigns ? "*=" : "*", name, statement ? ";" : "")});
    }
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeReciprocal() { return std::make_unique<Reciprocal>(); }

}  // namespace evo
