#include <fmt/format.h>

#include <set>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/dependence.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// A loop in the body of another loop, and the variables declared before it.
struct SwappedNest {
  CountedLoop inner;
  std::vector<int> declared;  // statements
};

// Whether a statement only declares variables that can be computed repeatedly.
bool IsRecomputable(const SyntaxTree& tree, int statement, const std::set<int>& written) {
  if (tree.node(statement).kind_name != "DeclStmt") return false;
  for (const int variable : tree.node(statement).children) {
    const SyntaxNode& node = tree.node(variable);
    if (node.kind_name != "VarDecl" || node.children.empty() || node.type.ends_with("]") || node.type.ends_with("&"))
      return false;
    if (written.contains(variable) || !IsPure(tree, node.children.back())) return false;
  }
  return true;
}

// nullopt if the outer loop's body contains anything else.
std::optional<SwappedNest> NestIn(const SyntaxTree& tree, const CountedLoop& outer) {
  std::vector<int> statements{outer.parts.body};
  if (tree.node(outer.parts.body).kind_name == "CompoundStmt") {
    statements.clear();
    for (const int child : tree.node(outer.parts.body).children) {
      if (tree.node(child).kind_name != kPragmaKind) statements.push_back(child);
    }
  }
  const auto inner = statements.empty() ? std::nullopt : AsCountedLoop(tree, statements.back());
  if (!inner) return std::nullopt;
  statements.pop_back();
  const auto written = WrittenIn(tree, outer.parts.body);
  for (const int statement : statements) {
    if (!IsRecomputable(tree, statement, written)) return std::nullopt;
  }
  return SwappedNest{*inner, statements};
}

// Whether the inner loop's header can be moved out of the outer loop.
bool IsIndependent(const SyntaxTree& tree, const CountedLoop& inner, const CountedLoop& outer) {
  const int scope = outer.parts.statement;
  const auto increment = tree.node(inner.parts.increment).children;
  return IsInvariant(tree, inner.start, scope) && IsInvariant(tree, inner.bound, scope) &&
         (increment.size() < 2 || IsInvariant(tree, increment[1], scope));
}

class LoopInterchange : public SourceMutator {
 public:
  std::string_view name() const override { return "loop_interchange"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "exchanges the inner and the outer one of two nested counted loops"; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto outer = AsCountedLoop(tree, node);
      if (!outer) continue;
      const auto nest = NestIn(tree, *outer);
      if (!nest || !IsIndependent(tree, nest->inner, *outer)) continue;
      const CountedLoop* inner = &nest->inner;
      const int work = nest->declared.empty() ? inner->parts.body : outer->parts.body;
      if (!IterationsCommute(context, work, {outer->counter, inner->counter}, {})) continue;
      Proposal proposal;
      Sink(tree, *nest, proposal);
      for (const auto& [to, from] : {std::pair{&outer->parts, &inner->parts}, std::pair{&inner->parts, &outer->parts}}) {
        proposal.changes.push_back({to->init, Placement::kReplace, std::string(tree.Text(from->init))});
        proposal.changes.push_back({to->condition, Placement::kReplace, std::string(tree.Text(from->condition))});
        proposal.changes.push_back({to->increment, Placement::kReplace, std::string(tree.Text(from->increment))});
      }
      proposal.also_anchored.push_back(outer->parts.body);
      if (nest->declared.empty() || tree.node(inner->parts.body).kind_name == "CompoundStmt")
        proposal.also_anchored.push_back(inner->parts.body);
      proposals.push_back(std::move(proposal));
    }
    return proposals;
  }

 private:
  // Moves the declarations before the inner loop into its body.
  static void Sink(const SyntaxTree& tree, const SwappedNest& nest, Proposal& proposal) {
    if (nest.declared.empty()) return;
    const int body = nest.inner.parts.body;
    const std::string outer = IndentOf(tree, nest.inner.parts.statement);
    std::string lines;
    for (const int statement : nest.declared) {
      proposal.changes.push_back({statement, Placement::kReplace, ""});
      lines += fmt::format("{}  {}\n", outer, tree.Text(statement));
    }
    proposal.changes.push_back(
        {body, Placement::kReplace, fmt::format("{{\n{}{}{}}}", lines, Lines(tree, body, outer + "  "), outer)});
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLoopInterchange() { return std::make_unique<LoopInterchange>(); }

}  // namespace evo
