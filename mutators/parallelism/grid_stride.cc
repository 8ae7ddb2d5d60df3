#include <fmt/format.h>

#include <array>

#include "mutators/analysis/block_runs/block_loop.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

constexpr std::array<int, 3> kFactors{2, 4, 8};

class GridStride : public SourceMutator {
 public:
  std::string_view name() const override { return "grid_stride"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "launches a half, a quarter or an eighth of a grid's blocks, each of which does the work of several one after another";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override { return InPlainSource(context, Find); }

 private:
  static std::vector<Proposal> Find(const MutationContext& context) {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      if (!IsKernel(tree, function) || tree.node(tree.node(function).children.back()).kind_name != "CompoundStmt") continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(function).name);
      for (std::size_t axis = 0; launch && axis < launch->grid.size(); ++axis) {
        const auto loop = LoopOverBlocks(context, function, axis);
        for (const int factor : kFactors) {
          if (!loop) break;
          Proposal proposal = loop->proposal;
          const std::string grid = fmt::format("ceil_div({}, {})", loop->whole, factor);
          proposal.launch.insert(proposal.launch.begin(), WithDimension(*launch, "grid", axis, grid));
          proposals.push_back(std::move(proposal));
        }
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeGridStride() { return std::make_unique<GridStride>(); }

}  // namespace evo
