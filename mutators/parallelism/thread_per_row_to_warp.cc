#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/indentation.h"
#include "mutators/analysis/plain_source.h"
#include "mutators/analysis/row_kernel.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Code that gives every lane the warp's sum, maximum or minimum.
std::string Combine(const SyntaxTree& tree, const SharedLoop& loop) {
  const std::string indent = IndentOf(tree, loop.counted.parts.statement);
  std::string text;
  for (const Accumulation& accumulation : loop.accumulations) {
    std::string name = tree.node(accumulation.declaration).name;
    std::string inner = indent;
    if (!accumulation.length.empty()) {
      const std::string index = FreshName(tree, "i");
      text += fmt::format("\n#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{", indent, index,
                          Parenthesised(accumulation.length));
      name += fmt::format("[{}]", index);
      inner += "  ";
    }
    const AroundCombining around = AroundCombiningOf(tree, accumulation);
    if (!around.before.empty()) text += "\n" + indent + around.before;
    const std::string offset = FreshName(tree, "offset");
    const std::string other = fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", name, offset);
    text +=
        "\n" + inner +
        Block(fmt::format("for (int {0} = 16; {0} > 0; {0} /= 2)", offset), Combined(accumulation.combine, name, other), inner);
    if (!accumulation.length.empty()) text += fmt::format("\n{}}}", indent);
    if (!around.after.empty()) text += "\n" + indent + around.after;
  }
  return text;
}

class ThreadPerRowToWarp : public SourceMutator {
 public:
  std::string_view name() const override { return "thread_per_row_to_warp"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "gives the work of one thread to a warp, whose lanes share its loops"; }
  double weight() const override { return 3; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    return InPlainSource(context, ProposalsIn, ThreadLoops::kOfOneTurn, Preferred::kMostChanges);
  }
  std::vector<std::string> Refusals(const MutationContext& context) const override {
    return RefusalsInPlainSource(context, ProposalsIn, RowRefusals);
  }

 private:
  static std::vector<Proposal> ProposalsIn(const MutationContext& context) {
    std::vector<Proposal> proposals;
    for (const RowKernel& kernel : RowKernels(context)) {
      const auto sizes = ValuesOf(kernel.index.launch->block[0], context.rendered);
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
    proposal.changes.push_back({index.extent, Placement::kReplace, fmt::format("({} / 32)", Parenthesised(tree, index.extent))});
    proposal.changes.push_back({index.thread, Placement::kReplace, "threadIdx.x / 32"});
    for (const SharedLoop& loop : kernel.loops) {
      const int statement = loop.counted.parts.statement;
      for (auto& change : ShareLoop(tree, loop, lanes)) proposal.changes.push_back(std::move(change));
      std::string after = Combine(tree, loop);
      // A lane may later read what other lanes have stored.
      if (loop.stores && kernel.reads_what_it_stores) after += fmt::format("\n{}__syncwarp();", IndentOf(tree, statement));
      if (!after.empty()) proposal.changes.push_back({statement, Placement::kAfter, std::move(after)});
      proposal.also_anchored.push_back(loop.counted.parts.body);
    }
    for (const int store : kernel.stores) proposal.changes.push_back(StoreOnce(tree, store, lanes));
    const Expression& grid = index.launch->grid[0];
    const std::string& block = index.launch->block[0].text();
    proposal.launch.push_back(WithDimension(
        *index.launch, "grid", 0,
        BlocksOf(grid, block, fmt::format("{} / 32", Parenthesised(block)), fmt::format("{} * 32", Parenthesised(grid.text())))));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeThreadPerRowToWarp() { return std::make_unique<ThreadPerRowToWarp>(); }

}  // namespace evo
