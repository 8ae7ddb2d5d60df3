#include <algorithm>

#include "core/error.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::int64_t kWarpThreads = 32;

bool IsBlockOrWarpBarrier(const SyntaxTree& tree, int node) {
  const std::string_view callee = LibraryCallee(tree, node);
  return (callee == "__syncthreads" || callee == "__syncwarp") && tree.node(node).children.size() == 1;
}

// The parameter values under which every block of the file has at most one warp; nullopt if some block is larger or of unknown
// size.
std::optional<Parameters> OneWarp(const MutationContext& context) {
  Parameters needed;
  const Variables values = ToVariables(context.genome.parameters);
  for (const Step& step : context.rendered.steps) {
    if (!step.launch) continue;
    std::int64_t threads = 1;
    for (const Expression& dimension : step.launch->block) {
      try {
        threads *= dimension.EvaluateInteger(values);
      } catch (const Error&) {
        return std::nullopt;
      }
      for (const std::string& name : dimension.Names()) needed[name] = context.genome.parameters.at(name);
    }
    if (threads > kWarpThreads) return std::nullopt;
  }
  return needed;
}

// Whether a statement does nothing that another thread could observe, and does not jump.
bool IsQuiet(const SyntaxTree& tree, int statement) {
  for (const int node : Subtree(tree, statement)) {
    const std::string& kind = tree.node(node).kind_name;
    if (kind == "CallExpr" && !IsPure(tree, node)) return false;
    if (kind.ends_with("Stmt") && kind != "DeclStmt") return false;
  }
  return !StoresIn(tree, statement) && !LoadsIn(tree, statement);
}

class BarrierNarrow : public SourceMutator {
 public:
  std::string_view name() const override { return "barrier_narrow"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "replaces __syncthreads by __syncwarp in blocks of one warp, or removes a redundant barrier";
  }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    const auto one_warp = OneWarp(context);
    Proposal all;
    for (const int call : NodesOfKind(tree, "CallExpr")) {
      if (!IsBlockOrWarpBarrier(tree, call) || tree.node(call).opaque || !tree.Text(call).ends_with(";")) continue;
      if (one_warp && LibraryCallee(tree, call) == "__syncthreads") {
        const Proposal::Change change{call, Placement::kReplace, "__syncwarp();"};
        proposals.push_back({{change}, {}, {}, *one_warp});
        all.changes.push_back(change);
      }
      if (IsRedundant(tree, call)) proposals.push_back({{{call, Placement::kReplace, ""}}, {}, {}, {}});
    }
    if (all.changes.size() > 1) {
      all.parameters = *one_warp;
      proposals.push_back(std::move(all));
    }
    return proposals;
  }

 private:
  // Whether nothing that other threads could observe has happened since an earlier barrier that is at least as wide.
  static bool IsRedundant(const SyntaxTree& tree, int call) {
    if (!IsInBlock(tree, call)) return false;
    const auto& siblings = tree.node(tree.node(call).parent).children;
    const auto self = std::find(siblings.begin(), siblings.end(), call);
    for (auto at = std::make_reverse_iterator(self); at != siblings.rend(); ++at) {
      if (IsBlockOrWarpBarrier(tree, *at))
        return LibraryCallee(tree, *at) == "__syncthreads" || LibraryCallee(tree, call) == "__syncwarp";
      if (!IsQuiet(tree, *at)) return false;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeBarrierNarrow() { return std::make_unique<BarrierNarrow>(); }

}  // namespace evo
