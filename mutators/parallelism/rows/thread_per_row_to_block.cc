#include <fmt/format.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/rows/lone_rows.h"
#include "mutators/analysis/rows/row_kernel.h"
#include "mutators/mutator.h"
#include "mutators/parallelism/rows/merged_rows.h"
#include "mutators/parallelism/rows/row_combining.h"
#include "mutators/parallelism/scans/running_sum_text.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kRowThreads{64, 128, 256, 512, 1024};

class ThreadPerRowToBlock : public SourceMutator {
 public:
  std::string_view name() const override { return "thread_per_row_to_block"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "gives the work of one thread to a block, whose threads share its loops";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    auto proposals = InPlainSource(context, ProposalsIn, ThreadLoops::kOfOneTurn, Preferred::kMostChanges, WithLoneRows);
    for (Proposal& proposal : proposals) LeaveSharedMemory(context, proposal);
    return proposals.empty() ? InMergedRows(context, ProposalsIn) : proposals;
  }
  std::vector<std::string> Refusals(const MutationContext& context) const override {
    auto refusals = RefusalsInPlainSource(context, ProposalsIn, RowRefusals, ThreadLoops::kOfOneTurn, WithLoneRows, true);
    if (const std::string why = WhyNoMergedRows(context); !why.empty()) refusals.push_back("all launches together: " + why);
    return refusals;
  }

 private:
  // Blocks that shared a row before need no dynamic shared memory any more.
  static void LeaveSharedMemory(const MutationContext& context, Proposal& proposal) {
    const auto has_shared = [&](const std::string& kernel) {
      return std::any_of(context.rendered.steps.begin(), context.rendered.steps.end(), [&](const Step& step) {
        return step.launch && (step.launch->kernel == kernel || step.launch->kernel_expression == kernel) &&
               step.launch->shared.text() != "0";
      });
    };
    std::vector<LaunchChange> changes;
    for (const LaunchChange& change : proposal.launch) {
      if (change.field == "block" && has_shared(change.kernel)) changes.push_back({change.kernel, "shared", "0"});
    }
    proposal.launch.insert(proposal.launch.end(), changes.begin(), changes.end());
  }

  static std::vector<Proposal> ProposalsIn(const MutationContext& context) {
    std::vector<Proposal> proposals;
    for (const RowKernel& kernel : RowKernels(context)) {
      const bool scalars = std::all_of(kernel.loops.begin(), kernel.loops.end(), [](const SharedLoop& loop) {
        return std::all_of(loop.accumulations.begin(), loop.accumulations.end(),
                           [](const Accumulation& a) { return a.length.empty(); });
      });
      if (scalars && (!HasBounds(context.tree, kernel) || HasWholeWarps(context, kernel)))
        proposals.push_back(ToBlock(context.tree, kernel));
    }
    return proposals;
  }

  // Whether a kernel says how many threads a block has at most. It keeps its own number, then.
  static bool HasBounds(const SyntaxTree& tree, const RowKernel& kernel) {
    const auto& children = tree.node(kernel.index.kernel).children;
    return std::any_of(children.begin(), children.end(),
                       [&](int child) { return tree.Text(child).starts_with("__launch_bounds__"); });
  }

  static bool HasWholeWarps(const MutationContext& context, const RowKernel& kernel) {
    const auto sizes = ValuesOf(kernel.index.launch->block[kernel.index.axis], context.rendered);
    return !sizes.empty() &&
           std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size % 32 == 0 && size <= 1024; });
  }

  static Proposal ToBlock(const SyntaxTree& tree, const RowKernel& kernel) {
    const ThreadIndex& index = kernel.index;
    Proposal proposal;
    RowThreads threads{FreshName(tree, "thread"), RowExtent(tree, kernel)};
    if (!HasBounds(tree, kernel)) {
      threads.count = UnusedName(tree.text(), "THREADS");
      proposal.brings.push_back({threads.count, kRowThreads, 256});
      proposal.launch.push_back(RowDimension(kernel, "block", threads.count));
    } else if (index.axis != 0) {
      proposal.launch.push_back(RowDimension(kernel, "block", index.launch->block[index.axis].text()));
    }
    proposal.changes.push_back({index.statement, Placement::kBefore,
                                LineBefore(tree, index.statement, fmt::format("const int {} = threadIdx.x;", threads.name))});
    proposal.changes.push_back({tree.node(index.thread).parent, Placement::kReplace, "blockIdx.x"});
    const std::string items = BringItems(tree, kernel, proposal);
    for (const SharedLoop& loop : kernel.loops) {
      // A thread may later read what other threads have stored.
      const std::string barrier = loop.stores && kernel.reads_what_it_stores ? "__syncthreads();" : "";
      if (loop.running)
        ReplaceByTiles(tree, loop, RunningSumText(tree, loop, threads, items, true), barrier, proposal);
      else
        DivideLoop(tree, loop, threads, CombineInBlock(tree, loop, threads), barrier, proposal);
    }
    for (const int store : kernel.stores) proposal.changes.push_back(StoreOnce(tree, store, threads));
    for (const int atomic : kernel.atomics) proposal.changes.push_back(StoreOnce(tree, atomic, threads));
    const Expression& grid = index.launch->grid[index.axis];
    const std::string& block = index.launch->block[index.axis].text();
    if (block == "1") {
      proposal.launch.push_back(RowDimension(kernel, "grid", grid.text()));
      return proposal;
    }
    proposal.launch.push_back(RowDimension(
        kernel, "grid", BlocksOf(grid, block, "1", fmt::format("{} * {}", Parenthesised(grid.text()), Parenthesised(block)))));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeThreadPerRowToBlock() { return std::make_unique<ThreadPerRowToBlock>(); }

}  // namespace evo
