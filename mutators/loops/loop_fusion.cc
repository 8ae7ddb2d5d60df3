#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/dependence.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

bool Declares(const SyntaxTree& tree, int body) {
  const auto& children = tree.node(body).children;
  return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "DeclStmt"; });
}

std::string Part(const SyntaxTree& tree, const CountedLoop& loop, const std::string& indent) {
  const int body = loop.parts.body;
  if (!Declares(tree, body)) return Lines(tree, body, indent);
  return fmt::format("{0}{{\n{1}{0}}}\n", indent, Lines(tree, body, indent + "  "));
}

// The loop that follows a statement, its pragma skipped; nullopt if another statement follows.
std::optional<CountedLoop> LoopBehind(const SyntaxTree& tree, int statement) {
  const auto& siblings = tree.node(tree.node(statement).parent).children;
  auto next = std::find(siblings.begin(), siblings.end(), statement) + 1;
  if (next != siblings.end() && tree.node(*next).kind_name == kPragmaKind) ++next;
  if (next == siblings.end()) return std::nullopt;
  return AsCountedLoop(tree, *next);
}

bool IsUnchangedBy(const SyntaxTree& tree, const CountedLoop& header, const CountedLoop& other) {
  const auto written = WrittenIn(tree, other.parts.body);
  for (const int part : {header.parts.init, header.parts.condition, header.parts.increment}) {
    for (const int named : NamedIn(tree, part)) {
      if (written.contains(named)) return false;
    }
  }
  return true;
}

class LoopFusion : public SourceMutator {
 public:
  std::string_view name() const override { return "loop_fusion"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "merges two neighbouring loops over the same values into one"; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto first = AsCountedLoop(tree, node);
      if (!first || !IsInBlock(tree, node)) continue;
      const auto second = LoopBehind(tree, node);
      if (!second || !HaveSameHeader(tree, *first, *second)) continue;
      if (!IsUnchangedBy(tree, *first, *second) || !IsUnchangedBy(tree, *second, *first)) continue;
      if (!AreApart(context, {{first->parts.body}, first->counter}, {{second->parts.body}, second->counter})) continue;
      const std::string indent = IndentOf(tree, node);
      const std::string init(tree.Text(first->parts.init));
      const std::string fused = fmt::format("{} {{\n{}{}{}}}", Header(tree, *first, init.substr(0, init.rfind(';'))),
                                            Part(tree, *first, indent + "  "), Part(tree, *second, indent + "  "), indent);
      Proposal proposal;
      proposal.changes.push_back({node, Placement::kReplace, fused});
      if (second->parts.pragma >= 0) proposal.changes.push_back({second->parts.pragma, Placement::kReplace, ""});
      proposal.changes.push_back({second->parts.statement, Placement::kReplace, ""});
      proposal.also_anchored = {first->parts.body, second->parts.body};
      proposals.push_back(std::move(proposal));
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLoopFusion() { return std::make_unique<LoopFusion>(); }

}  // namespace evo
