#include "mutators/counted_loop.h"
#include "mutators/data_flow.h"
#include "mutators/dependence.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

// The loop that is all there is in another's body; nullopt if there is more.
std::optional<CountedLoop> OnlyInner(const SyntaxTree& tree, const CountedLoop& outer) {
  int inner = outer.parts.body;
  if (tree.node(inner).kind_name == "CompoundStmt") {
    int loops = 0;
    for (const int child : tree.node(outer.parts.body).children) {
      if (tree.node(child).kind_name == kPragmaKind) continue;
      inner = child;
      ++loops;
    }
    if (loops != 1) return std::nullopt;
  }
  return AsCountedLoop(tree, inner);
}

// Its header can stand outside of the other loop.
bool IsIndependent(const SyntaxTree& tree, const CountedLoop& inner, const CountedLoop& outer) {
  const int scope = outer.parts.statement;
  const auto increment = tree.node(inner.parts.increment).children;
  return IsInvariant(tree, inner.start, scope) && IsInvariant(tree, inner.bound, scope) &&
         (increment.size() < 2 || IsInvariant(tree, increment[1], scope));
}

class LoopInterchange : public SourceMutator {
 public:
  std::string_view name() const override { return "loop_interchange"; }
  std::string_view description() const override { return "makes the inner of two counted loops the outer one"; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto outer = AsCountedLoop(tree, node);
      if (!outer) continue;
      const auto inner = OnlyInner(tree, *outer);
      if (!inner || !IsIndependent(tree, *inner, *outer)) continue;
      if (!IterationsCommute(context, inner->parts.body, {outer->counter, inner->counter}, {})) continue;
      Proposal proposal;
      for (const auto& [to, from] : {std::pair{&outer->parts, &inner->parts}, std::pair{&inner->parts, &outer->parts}}) {
        proposal.changes.push_back({to->init, Placement::kReplace, std::string(tree.Text(from->init))});
        proposal.changes.push_back({to->condition, Placement::kReplace, std::string(tree.Text(from->condition))});
        proposal.changes.push_back({to->increment, Placement::kReplace, std::string(tree.Text(from->increment))});
      }
      proposal.also_anchored = {outer->parts.body, inner->parts.body};
      proposals.push_back(std::move(proposal));
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLoopInterchange() { return std::make_unique<LoopInterchange>(); }

}  // namespace evo
