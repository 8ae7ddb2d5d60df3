#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/rows/row_kernel.h"
#include "mutators/mutator.h"
#include "mutators/parallelism/rows/merged_rows.h"
#include "mutators/parallelism/rows/row_combining.h"
#include "mutators/parallelism/scans/running_sum_text.h"

namespace evo {
namespace {

class ThreadPerRowToWarp : public SourceMutator {
 public:
  std::string_view name() const override { return "thread_per_row_to_warp"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "gives the work of one thread to a warp, whose lanes share its loops"; }
  double weight() const override { return 3; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    auto proposals = InPlainSource(context, ProposalsIn, ThreadLoops::kOfOneTurn, Preferred::kMostChanges);
    return proposals.empty() ? InMergedRows(context, ProposalsIn) : proposals;
  }
  std::vector<std::string> Refusals(const MutationContext& context) const override {
    return RefusalsInPlainSource(context, ProposalsIn, RowRefusals);
  }

 private:
  static std::vector<Proposal> ProposalsIn(const MutationContext& context) {
    std::vector<Proposal> proposals;
    for (const RowKernel& kernel : RowKernels(context)) {
      const auto sizes = ValuesOf(kernel.index.launch->block[kernel.index.axis], context.rendered);
      const bool whole = std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size % 32 == 0; });
      if (!sizes.empty() && whole) proposals.push_back(ToWarp(context.tree, kernel));
    }
    return proposals;
  }

  static Proposal ToWarp(const SyntaxTree& tree, const RowKernel& kernel) {
    const ThreadIndex& index = kernel.index;
    const RowThreads lanes{FreshName(tree, "lane"), "32"};
    Proposal proposal;
    proposal.changes.push_back({index.statement, Placement::kBefore,
                                LineBefore(tree, index.statement, fmt::format("const int {} = threadIdx.x % 32;", lanes.name))});
    proposal.changes.push_back({index.extent, Placement::kReplace, fmt::format("({} / 32)", RowExtent(tree, kernel))});
    proposal.changes.push_back({index.thread, Placement::kReplace, "threadIdx.x / 32"});
    if (index.axis != 0) proposal.changes.push_back({index.block, Placement::kReplace, "blockIdx.x"});
    const std::string items = BringItems(tree, kernel, proposal);
    for (const SharedLoop& loop : kernel.loops) {
      // A lane may later read what other lanes have stored.
      const std::string barrier = loop.stores && kernel.reads_what_it_stores ? "__syncwarp();" : "";
      if (loop.running)
        ReplaceByTiles(tree, loop, RunningSumText(tree, loop, lanes, items, false), barrier, proposal);
      else
        DivideLoop(tree, loop, lanes, CombineInWarp(tree, loop, lanes), barrier, proposal);
    }
    for (const int store : kernel.stores) proposal.changes.push_back(StoreOnce(tree, store, lanes));
    for (const int atomic : kernel.atomics) proposal.changes.push_back(StoreOnce(tree, atomic, lanes));
    const Expression& grid = index.launch->grid[index.axis];
    const std::string& block = index.launch->block[index.axis].text();
    if (index.axis != 0) proposal.launch.push_back(RowDimension(kernel, "block", block));
    proposal.launch.push_back(RowDimension(
        kernel, "grid",
        BlocksOf(grid, block, fmt::format("{} / 32", Parenthesised(block)), fmt::format("{} * 32", Parenthesised(grid.text())))));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeThreadPerRowToWarp() { return std::make_unique<ThreadPerRowToWarp>(); }

}  // namespace evo
