#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/indentation.h"
#include "mutators/analysis/plain_source.h"
#include "mutators/analysis/row_kernel.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

bool IsInALoop(const SyntaxTree& tree, int statement) {
  for (int at = tree.node(statement).parent; at >= 0; at = tree.node(at).parent) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return true;
  }
  return false;
}

// Code that gives every thread the block's sum, maximum or minimum: by shuffles within a warp, through shared memory between
// warps.
std::string Combine(const SyntaxTree& tree, const Accumulation& accumulation, int loop, const RowThreads& threads) {
  const std::string outer = IndentOf(tree, loop);
  const std::string indent = outer + "  ";
  const SyntaxNode& variable = tree.node(accumulation.declaration);
  const std::string& name = variable.name;
  const std::string partials = FreshName(tree, "warp_partials");
  const std::string offset = FreshName(tree, "offset");
  const std::string warp = FreshName(tree, "warp");
  const AroundCombining around = AroundCombiningOf(tree, accumulation);
  const auto line = [&](const std::string& code) { return code.empty() ? "" : fmt::format("\n{}{}", outer, code); };
  std::string text =
      line(around.before) + fmt::format("\n{}{{\n{}__shared__ {} {}[32];\n", outer, indent, variable.type, partials);
  const std::string other = fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", name, offset);
  text += fmt::format(
      "{}{}\n", indent,
      Block(fmt::format("for (int {0} = 16; {0} > 0; {0} /= 2)", offset), Combined(accumulation.combine, name, other), indent));
  text += fmt::format("{}if ({} % 32 == 0) {}[{} / 32] = {};\n", indent, threads.name, partials, threads.name, name);
  text += fmt::format("{}__syncthreads();\n{}{} = {}[0];\n", indent, indent, name, partials);
  text += fmt::format("{}{}\n", indent,
                      Block(fmt::format("for (int {0} = 1; {0} < {1} / 32; ++{0})", warp, threads.count),
                            Combined(accumulation.combine, name, fmt::format("{}[{}]", partials, warp)), indent));
  // In a loop, the next iteration writes what this one still reads.
  if (IsInALoop(tree, loop)) text += fmt::format("{}__syncthreads();\n", indent);
  return text + outer + "}" + line(around.after);
}

class ThreadPerRowToBlock : public SourceMutator {
 public:
  std::string_view name() const override { return "thread_per_row_to_block"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "gives the work of one thread to a block, whose threads share its loops";
  }
  double weight() const override { return 2; }

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
      const bool whole =
          std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size % 32 == 0 && size <= 1024; });
      const bool scalars = std::all_of(kernel.loops.begin(), kernel.loops.end(), [](const SharedLoop& loop) {
        return std::all_of(loop.accumulations.begin(), loop.accumulations.end(),
                           [](const Accumulation& a) { return a.length.empty(); });
      });
      if (!sizes.empty() && whole && scalars) proposals.push_back(ToBlock(context.tree, kernel));
    }
    return proposals;
  }

  static Proposal ToBlock(const SyntaxTree& tree, const RowKernel& kernel) {
    const ThreadIndex& index = kernel.index;
    const RowThreads threads{FreshName(tree, "thread"), Parenthesised(tree, index.extent)};
    Proposal proposal;
    proposal.changes.push_back({index.statement, Placement::kBefore,
                                LineBefore(tree, index.statement, fmt::format("const int {} = threadIdx.x;", threads.name))});
    proposal.changes.push_back({tree.node(index.thread).parent, Placement::kReplace, "blockIdx.x"});
    for (const SharedLoop& loop : kernel.loops) {
      const int statement = loop.counted.parts.statement;
      for (auto& change : ShareLoop(tree, loop, threads)) proposal.changes.push_back(std::move(change));
      std::string after;
      for (const Accumulation& accumulation : loop.accumulations) after += Combine(tree, accumulation, statement, threads);
      // A thread may later read what other threads have stored.
      if (loop.stores && kernel.reads_what_it_stores) after += fmt::format("\n{}__syncthreads();", IndentOf(tree, statement));
      if (!after.empty()) proposal.changes.push_back({statement, Placement::kAfter, std::move(after)});
      proposal.also_anchored.push_back(loop.counted.parts.body);
    }
    for (const int store : kernel.stores) proposal.changes.push_back(StoreOnce(tree, store, threads));
    const Expression& grid = index.launch->grid[0];
    const std::string& block = index.launch->block[0].text();
    proposal.launch.push_back(
        WithDimension(*index.launch, "grid", 0,
                      BlocksOf(grid, block, "1", fmt::format("{} * {}", Parenthesised(grid.text()), Parenthesised(block)))));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeThreadPerRowToBlock() { return std::make_unique<ThreadPerRowToBlock>(); }

}  // namespace evo
