#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_line.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/restated_products.h"
#include "mutators/breeding/edit_application.h"
#include "mutators/parallelism/changed_kernel.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/reductions/sum_parts_writer.h"

namespace evo {

std::unique_ptr<Mutator> MakeTileContraction();
std::unique_ptr<Mutator> MakeTensorContraction();
std::unique_ptr<Mutator> MakeSplitTensorContraction();
std::unique_ptr<Mutator> MakeWarpGroupContraction();

namespace {

// Blocks of a launch that sums are divided for, where the output's tiles are fewer: an H100 or H200 has 132 multiprocessors, of
// which some take several blocks at once.
const std::vector<std::int64_t> kBlocksOfParts{66, 132, 264, 528, 1056, 2112};

// The source with a kernel's sums divided, for operators that find tiles for the kernel of the parts.
struct DividedSums {
  std::shared_ptr<const SyntaxTree> tree;  // null if there is none
  KernelTemplate rendered;
  Proposal proposal;   // with the name `length` in the place of a part's elements
  std::string length;  // which is free in the text
};

// A matrix product with few elements and long sums has too few tiles to fill a GPU. Its sums are divided into parts, which blocks
// compute by the tiles of another operator, and a second kernel adds up the parts in their order. Both at once, since an operator
// that tiles alone leaves most multiprocessors idle, and parts alone are slower than tiles.
class SplitK : public KernelVisitor {
 public:
  struct Kind {
    std::string_view name;
    std::string_view description;
    std::unique_ptr<Mutator> (*tiles)();
  };
  explicit SplitK(const Kind& kind) : kind_(kind), tiles_(kind.tiles()) {}

  std::string_view name() const override { return kind_.name; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return kind_.description; }
  std::string_view required_arch() const override { return tiles_->required_arch(); }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return ReassociatedProducts; }
  // Gives each contraction's proposals, or why its sums cannot be divided.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const SyntaxTree& tree = context.tree;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const auto found = AsContraction(context, kernel);
      // Why a kernel is no contraction, or has no tiles, is what the operator that tiles says.
      if (std::holds_alternative<std::string>(found)) continue;
      const SumPartsWriter writer(context, std::get<Contraction>(found));
      if (!writer.refusal().empty()) {
        refuse(fmt::format("{}: {}", tree.node(kernel).name, writer.refusal()));
        continue;
      }
      const DividedSums& divided = Divided(context, kernel, writer);
      if (divided.tree == nullptr) continue;
      const MutationContext parts{context.kernel_template, context.genome, *divided.tree, divided.rendered};
      for (const Proposal& tiled : static_cast<const SourceMutator&>(*tiles_).Proposals(parts)) {
        if (auto proposal = Combined(kernel, writer, divided, tiled)) propose(std::move(*proposal));
      }
    }
  }

  // Once for all operators of this kind.
  static const DividedSums& Divided(const MutationContext& context, int kernel, const SumPartsWriter& writer) {
    return context.tree.Kept<DividedSums>(fmt::format("divided sums of {}", kernel), [&] {
      DividedSums divided;
      divided.length = UnusedName(context.tree.text(), "LENGTH");
      divided.proposal = writer.Divided(divided.length);
      const AppliedEdit applied = ApplyEdit(context.tree, {}, MakeEdit(context.tree, "split_k", divided.proposal));
      if (!applied.dropped.empty()) return divided;
      divided.rendered = ParseTemplate(context.rendered.name, applied.text);
      divided.tree = context.tree.Reparsed(applied.text);
      return divided;
    });
  }

  // The change of the source that divides the sums and computes the parts by these tiles.
  static std::optional<Proposal> Combined(int kernel, const SumPartsWriter& writer, const DividedSums& divided,
                                          const Proposal& tiled) {
    std::vector<std::string> grid;
    for (const LaunchChange& change : tiled.launch) {
      const bool known = change.field == "grid" || change.field == "block" || change.field == "shared";
      if (change.kernel != writer.kernel() || !known) return std::nullopt;
      if (change.field == "grid") grid = SplitAtCommas(change.text);
    }
    if (grid.size() != 3) return std::nullopt;
    const auto text = KernelWith(*divided.tree, writer.kernel(), tiled);
    if (!text) return std::nullopt;
    const std::string blocks = UnusedName(divided.tree->text(), "SPLIT_BLOCKS");
    Proposal proposal = divided.proposal;
    proposal.changes.front().text = *text + "\n\n";
    for (const Proposal::Change& change : tiled.changes) {
      if (change.text.starts_with("#include ")) proposal.changes.push_back({kernel, Placement::kBefore, change.text});
    }
    proposal.launch.insert(proposal.launch.end(), tiled.launch.begin(), tiled.launch.end());
    const std::string length = writer.Length(blocks, grid);
    for (LaunchChange& change : proposal.launch) change.text = WithOtherName(change.text, divided.length, length);
    proposal.brings = {{blocks, kBlocksOfParts, 264}};
    proposal.brings.insert(proposal.brings.end(), tiled.brings.begin(), tiled.brings.end());
    proposal.constraints = tiled.constraints;
    proposal.parameters = tiled.parameters;
    return proposal;
  }

  const Kind& kind_;
  const std::unique_ptr<Mutator> tiles_;
};

const SplitK::Kind kTileParts{"split_k_tile",
                              "divides the sums of a matrix product with few elements into parts, each by tile_contraction",
                              MakeTileContraction};
const SplitK::Kind kTensorParts{"split_k_tensor",
                                "divides the sums of a matrix product with few elements into parts, each by tensor_contraction",
                                MakeTensorContraction};
const SplitK::Kind kFloatParts{
    "split_k_split_tensor", "divides the sums of a matrix product with few elements into parts, each by split_tensor_contraction",
    MakeSplitTensorContraction};

const SplitK::Kind kGroupParts{
    "split_k_warp_group", "divides the sums of a matrix product with few elements into parts, each by warp_group_contraction",
    MakeWarpGroupContraction};

}  // namespace

std::unique_ptr<Mutator> MakeSplitKTile() { return std::make_unique<SplitK>(kTileParts); }
std::unique_ptr<Mutator> MakeSplitKTensor() { return std::make_unique<SplitK>(kTensorParts); }
std::unique_ptr<Mutator> MakeSplitKSplitTensor() { return std::make_unique<SplitK>(kFloatParts); }
std::unique_ptr<Mutator> MakeSplitKWarpGroup() { return std::make_unique<SplitK>(kGroupParts); }

}  // namespace evo
