#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_columns.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/attention/attention_writer.h"
#include "mutators/parallelism/attention/merged_attention.h"
#include "mutators/parallelism/attention/split_attention_writer.h"
#include "mutators/parallelism/kernel_visitor.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kTilesOfKeys{32, 64, 128};
const std::vector<std::int64_t> kWarpsOfBlock{1, 2, 4, 8};
const std::vector<std::int64_t> kRowsOfWarp{16, 32};
const std::vector<std::int64_t> kTilesOfRing{2, 3};
// Of floats: threads that share a row.
const std::vector<std::int64_t> kFloatTiles{8, 16, 32, 64};
const std::vector<std::int64_t> kThreadsOfRow{2, 4, 8, 16, 32};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kSharedOfBlock = 232448;
// Registers of a thread that scores, sums and queries may take; with more, they spill.
constexpr std::int64_t kRegistersOfThread = 192;

// What a search begins with: blocks that large problems want, and those of which small ones have enough for all multiprocessors.
struct Start {
  std::int64_t tile_keys, warps, warp_rows, stages;
};
constexpr Start kStarts[] = {{64, 4, 16, 2}, {32, 2, 16, 3}};
constexpr SplitAttentionStart kOneQueryStarts[] = {{16, 4, 8, 2}, {64, 4, 16, 4}};
constexpr Start kFloatStarts[] = {{32, 4, 4, 0}, {16, 2, 16, 0}};

// One thread per row of an attention becomes a block per tile of rows: one pass over the keys, with both products on tensor cores
// and nothing of the scores in memory. All of it at once, because each step alone makes the kernel slower.
class FuseAttention : public KernelVisitor {
 public:
  std::string_view name() const override { return "fuse_attention"; }
  // With exact arithmetic, sums that shrink with the largest score are the same. Weights are rounded to elements: another type.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "fuses an attention with one thread a row to one pass over tiles of keys, on tensor cores if it is of half or "
           "bfloat16, with sizes as parameters";
  }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return WithColumnsInLoops; }
  // Gives each attention's proposals, or why a kernel that resembles one has none.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    std::vector<std::string> reasons;
    bool proposed = false;
    const auto note = [&](Proposal proposal) { proposed = true, propose(std::move(proposal)); };
    const MergedAttention* const merged =
        VisitMerged(context, note, [&](const MutationContext& source, const Propose& propose_one) {
          VisitAttentions(context, source, propose_one, [&](const std::string& why) { reasons.push_back(why); });
          return false;
        });
    // Why its kernels alone are none does not matter where they are one together.
    if (proposed && merged != nullptr) return;
    for (const std::string& why : reasons) refuse(why);
    if (merged == nullptr || merged->tree) return;
    const bool said = std::any_of(reasons.begin(), reasons.end(), [&](const auto& why) { return why.ends_with(merged->why); });
    if (!merged->why.empty() && !said)
      refuse(fmt::format("all launches together: {}", merged->why));
    else if (reasons.empty())
      RefuseParts(context, refuse);
  }

  // Those in one kernel each.
  static void VisitAttentions(const MutationContext& whole, const MutationContext& context, const Propose& propose,
                              const Refuse& refuse) {
    VisitRecognised(context, refuse, AsAttention, [&](const Attention& found, const Refuse& refuse_kernel) {
      const Attention attention = WholeAttention(whole, context, found);
      if (attention.own_keys) {
        if (!attention.depth_size.empty())
          return refuse_kernel(
              fmt::format("its rows have {} elements, a size of the task, and keys of their own", attention.depth_size));
        const SplitAttentionWriter writer(context, attention);
        if (const std::string why = writer.Refusal(); !why.empty()) return refuse_kernel(why);
        for (const SplitAttentionStart& start : kOneQueryStarts) propose(writer.Written(start));
        return;
      }
      if (attention.element == "float") {
        for (const Start& start : kFloatStarts) propose(FusedFloats(context, attention, start));
        return;
      }
      if (!attention.query_width.empty())
        return refuse_kernel("its rows of values have other elements than those of keys, which only floats may have");
      if (RegistersOf(attention, kTilesOfKeys.front(), kRowsOfWarp.front()) > kRegistersOfThread)
        return refuse_kernel(fmt::format("rows of {} elements exceed the registers of a warp", attention.depth));
      for (const Start& start : kStarts) propose(Fused(context, attention, start));
    });
  }

  // Whether a loop adds up products of two elements.
  static bool AddsProducts(const SyntaxTree& tree, int kernel) {
    const auto nodes = Subtree(tree, kernel);
    return std::any_of(nodes.begin(), nodes.end(), [&](int at) {
      if (tree.Operator(at) != "+=") return false;
      const int term = WithoutParentheses(tree, tree.node(at).children.back());
      const auto& sides = tree.node(term).children;
      return tree.Operator(term) == "*" && sides.size() == 2 && LoadsIn(tree, sides[0]) && LoadsIn(tree, sides[1]);
    });
  }

  // Of a source with a product, and the exponential in another kernel.
  static void RefuseParts(const MutationContext& context, const Refuse& refuse) {
    const SyntaxTree& tree = context.tree;
    bool product = false;
    std::string exponential;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      product = product || std::holds_alternative<Contraction>(AsContraction(context, kernel)) || AddsProducts(tree, kernel);
      if (tree.Text(kernel).find("exp") != std::string_view::npos) exponential = tree.node(kernel).name;
    }
    if (product && !exponential.empty())
      refuse(fmt::format("{}: if it is a part of an attention, that is in several kernels, and is fused in one", exponential));
  }

  // The bounds of the kernel's own block become those of the new one.
  static void AddBounds(const Attention& found, const std::string& threads, Proposal& proposal) {
    if (found.launch_bounds >= 0)
      proposal.changes.push_back({found.launch_bounds, Placement::kReplace, fmt::format("__launch_bounds__({})", threads)});
  }

  // Where the task decides how long a row is, reckoned with a likely number: with others a launch may fail.
  static void AddSharedLimit(const Attention& found, const AttentionWriter& writer, Proposal& proposal) {
    std::string bytes = writer.SharedBytes();
    if (!found.depth_size.empty()) bytes = WithOtherName(bytes, found.depth_name, std::to_string(found.depth));
    proposal.constraints.push_back(fmt::format("{} <= {}", bytes, kSharedOfBlock));
  }

  // Of floats, which tensor cores would round: some threads of a warp share a row.
  static Proposal FusedFloats(const MutationContext& context, const Attention& found, const Start& start) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const AttentionParameters names{unused("TILE_KEYS"), unused("WARPS"), unused("ROW_THREADS"), ""};
    const AttentionWriter writer(context.tree, found, names);
    Proposal proposal;
    if (const std::string before = writer.Blocks(); !before.empty())
      proposal.changes.push_back({found.kernel, Placement::kBefore, before});
    proposal.changes.push_back({context.tree.node(found.kernel).children.back(), Placement::kReplace, writer.Body()});
    const std::string threads = fmt::format("{} * 32", names.warps);
    AddBounds(found, threads, proposal);
    proposal.launch = {AttentionGrid(found, fmt::format("{} / {}", threads, names.warp_rows)),
                       {found.launch->kernel, "block", threads},
                       {found.launch->kernel, "shared", writer.SharedBytes()}};
    proposal.parameters = found.parameters;
    proposal.brings = {{names.tile_keys, kFloatTiles, start.tile_keys},
                       {names.warps, kWarpsOfBlock, start.warps},
                       {names.warp_rows, kThreadsOfRow, start.warp_rows}};
    proposal.constraints = {fmt::format("ceil_div({}, {}) * 2 <= {}", found.depth, names.warp_rows, kRegistersOfThread)};
    AddSharedLimit(found, writer, proposal);
    return proposal;
  }

  static std::int64_t RegistersOf(const Attention& attention, std::int64_t tile_keys, std::int64_t warp_rows) {
    return warp_rows / 16 * (tile_keys / 2 + SumRegisters(attention));
  }

  static Proposal Fused(const MutationContext& context, const Attention& found, const Start& start) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const AttentionParameters names{unused("TILE_KEYS"), unused("WARPS"), unused("WARP_ROWS"), unused("STAGES")};
    const auto& [tile_keys, warps, warp_rows, stages] = names;
    const AttentionWriter writer(context.tree, found, names);
    Proposal proposal;
    proposal.changes.push_back({found.kernel, Placement::kBefore, writer.Blocks()});
    proposal.changes.push_back({found.kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
    proposal.changes.push_back({context.tree.node(found.kernel).children.back(), Placement::kReplace, writer.Body()});
    AddBounds(found, fmt::format("{} * 32", warps), proposal);
    const LaunchDirective& launch = *found.launch;
    proposal.launch = {AttentionGrid(found, fmt::format("{} * {}", warps, warp_rows)),
                       {launch.kernel, "block", fmt::format("{} * 32", warps)},
                       {launch.kernel, "shared", writer.SharedBytes()}};
    proposal.parameters = found.parameters;
    Start at = start;
    if (RegistersOf(found, at.tile_keys, at.warp_rows) > kRegistersOfThread) at.tile_keys = kTilesOfKeys.front();
    proposal.brings = {{tile_keys, kTilesOfKeys, at.tile_keys},
                       {warps, kWarpsOfBlock, at.warps},
                       {warp_rows, kRowsOfWarp, at.warp_rows},
                       {stages, kTilesOfRing, at.stages}};
    proposal.constraints = {
        fmt::format("{} / 16 * ({} / 2 + {}) <= {}", warp_rows, tile_keys, SumRegisters(found), kRegistersOfThread)};
    AddSharedLimit(found, writer, proposal);
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeFuseAttention() { return std::make_unique<FuseAttention>(); }

}  // namespace evo
