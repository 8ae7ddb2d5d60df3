#include <fmt/format.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_columns.h"
#include "mutators/parallelism/attention/attention_group_writer.h"
#include "mutators/parallelism/attention/merged_attention.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"

namespace evo {
namespace {

constexpr const char* kHopper = "sm_90a";
// The sizes that are searched.
const std::vector<std::int64_t> kKeysOfTile{64, 128};
const std::vector<std::int64_t> kGroupsOfBlock{1, 2, 3, 4};
const std::vector<std::int64_t> kStagesOfRing{2, 3, 4};
const std::vector<std::int64_t> kBlocksOfProcessor{1, 2, 3, 4};
// Of a multiprocessor: registers, and bytes of dynamic shared memory for all its blocks and for one.
constexpr int kGroupRegisters = 65536, kSharedOfProcessor = 233472, kSharedOfGroups = 232448;
constexpr int kRegistersOfOne = 255;
constexpr std::int64_t kLongestRow = 256;

// What a search begins with: blocks that large problems want, and those of which small ones have enough for all multiprocessors.
struct GroupStart {
  std::int64_t tile_keys, groups, stages, blocks;
};
constexpr GroupStart kGroupStarts[] = {{64, 2, 2, 2}, {64, 1, 3, 2}};

// One thread per row of an attention becomes a block per tile of rows, as fuse_attention does it, by products of warp groups.
class WarpGroupAttention : public KernelVisitor {
 public:
  std::string_view name() const override { return "warp_group_attention"; }
  // As for fuse_attention.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "fuses an attention of half or bfloat16 to one pass over tiles of keys by Hopper's products of warp groups, with "
           "sizes "
           "as parameters";
  }
  double weight() const override { return 3; }
  std::string_view required_arch() const override { return kHopper; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return WithColumnsInLoops; }
  // Why a kernel is no attention is what fuse_attention says.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitMerged(context, propose, [&](const MutationContext& source, const Propose& propose_one) {
      return VisitAttentions(context, source, propose_one, refuse);
    });
  }

  // Whether there is any.
  static bool VisitAttentions(const MutationContext& whole, const MutationContext& context, const Propose& propose,
                              const Refuse& refuse) {
    const Refuse in_silence = [](const std::string&) {};
    bool any = false;
    VisitRecognised(context, in_silence, AsAttention, [&](const Attention& found, const Refuse&) {
      any = true;
      const Attention attention = WholeAttention(whole, context, found);
      // One query a head, which tensor cores have no use for.
      if (attention.own_keys || HasOneRow(whole, context)) return;
      const std::string name = context.tree.node(attention.kernel).name;
      const std::string& required = context.rendered.required_arch;
      if (attention.beside.any())
        refuse(fmt::format("{}: its rows store sums, too, which only fuse_attention does", name));
      else if (attention.element == "float")
        refuse(fmt::format("{}: its rows are of float", name));
      else if (!attention.depth_size.empty())
        refuse(fmt::format("{}: its rows have {} elements, a size of the task, and products of warp groups take numbers", name,
                           attention.depth_size));
      else if (attention.depth % 64 != 0 || attention.depth > kLongestRow)
        refuse(fmt::format("{}: its rows have {} elements, and products of warp groups take 64, 128, 192 or 256", name,
                           attention.depth));
      else if (!required.empty() && required != kHopper)
        refuse(fmt::format("{}: its source requires {}, and products of warp groups {}", name, required, kHopper));
      else
        for (const GroupStart& start : kGroupStarts) propose(ByGroups(context, attention, start));
    });
    return any;
  }

  // Registers of a thread: scores and weights, sums, and what ptxas takes beside them.
  static std::int64_t RegistersOf(std::int64_t tile_keys, std::int64_t depth) { return tile_keys * 3 / 4 + depth / 2 + 36; }

  static Proposal ByGroups(const MutationContext& context, const Attention& found, const GroupStart& start) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const AttentionParameters names{unused("TILE_KEYS"), unused("GROUPS"), "", unused("STAGES")};
    const std::string &tile_keys = names.tile_keys, &groups = names.warps, &stages = names.stages, blocks = unused("BLOCKS");
    const AttentionGroupWriter writer(context.tree, found, names);
    const std::string threads = fmt::format("{} * 128", groups), shared = writer.SharedBytes();
    const std::string& required = context.rendered.required_arch;
    const std::string bounds = fmt::format("{}, {}", threads, blocks);
    Proposal proposal;
    proposal.changes = {{found.kernel, Placement::kBefore,
                         (required.empty() ? fmt::format("// evo:requires {}\n", kHopper) : std::string()) + writer.Blocks()},
                        {found.kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"},
                        found.launch_bounds < 0 ? WithBounds(context.tree, found.kernel, bounds)
                                                : Proposal::Change{found.launch_bounds, Placement::kReplace,
                                                                   fmt::format("__launch_bounds__({})", bounds)},
                        {context.tree.node(found.kernel).children.back(), Placement::kReplace, writer.Body()}};
    proposal.launch = {AttentionGrid(found, fmt::format("{} * 64", groups)),
                       {found.launch->kernel, "block", threads},
                       {found.launch->kernel, "shared", shared}};
    proposal.parameters = found.parameters;
    // Long rows leave fewer registers.
    GroupStart at = start;
    const auto all_registers = [&] { return RegistersOf(at.tile_keys, found.depth) * at.groups * 128 * at.blocks; };
    while (all_registers() > kGroupRegisters && at.groups * at.blocks > 1) --(at.blocks > 1 ? at.blocks : at.groups);
    const std::string registers = fmt::format("({} * 3 / 4 + {})", tile_keys, RegistersOf(0, found.depth));
    proposal.brings = {{tile_keys, kKeysOfTile, at.tile_keys},
                       {groups, kGroupsOfBlock, at.groups},
                       {stages, kStagesOfRing, at.stages},
                       {blocks, kBlocksOfProcessor, at.blocks}};
    proposal.constraints = {fmt::format("{} <= {}", registers, kRegistersOfOne),
                            fmt::format("{} * {} * {} <= {}", registers, threads, blocks, kGroupRegisters),
                            fmt::format("{} <= {}", shared, kSharedOfGroups),
                            fmt::format("({} + 1024) * {} <= {}", shared, blocks, kSharedOfProcessor)};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeWarpGroupAttention() { return std::make_unique<WarpGroupAttention>(); }

}  // namespace evo
