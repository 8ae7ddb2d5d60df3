#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/contraction.h"
#include "mutators/analysis/work_sharing.h"
#include "mutators/parallelism/contraction_text.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/tensor_writer.h"

namespace evo {
namespace {

// The sizes that are searched. A product of the tensor cores takes 16 x 16 x 16 elements in two instructions.
const std::vector<std::int64_t> kTensorTiles{16, 32, 64, 128, 256};
const std::vector<std::int64_t> kTensorDepths{16, 32, 64};
const std::vector<std::int64_t> kWarps{1, 2, 4};
const std::vector<std::int64_t> kStages{2, 3, 4};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kTensorShared = 232448;
// Elements of a warp: with more, the sums and what is loaded for them exceed the registers of a thread.
constexpr int kMostElements = 4096;

// What a search begins with: tiles that large products want, and those of which small ones have enough for all multiprocessors.
struct Sizes {
  std::int64_t tile;
  std::int64_t warps;  // along either axis
  std::int64_t stages;
};
constexpr Sizes kSizes[] = {{128, 2, 3}, {32, 1, 2}};

// One thread per element of a matrix product of half or bfloat16 becomes a block per tile of the output on tensor cores: tiles of
// both factors come through a ring in shared memory by asynchronous copies, warps load parts of them as the instructions want
// them, and the sums go to the output through shared memory. All of it at once, because tensor cores alone gain nothing.
class TensorContraction : public KernelVisitor {
 public:
  std::string_view name() const override { return "tensor_contraction"; }
  // Products of elements with 11 significant bits are exact in float; tensor cores add them in an order of their own.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "computes a matrix product of half or bfloat16 on tensor cores, by tiles that come asynchronously, with sizes as "
           "parameters";
  }
  double weight() const override { return 3; }

 private:
  // Gives each contraction's proposal, or why it has none.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const SyntaxTree& tree = context.tree;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const auto refuse_kernel = [&](const std::string& why) { refuse(fmt::format("{}: {}", tree.node(kernel).name, why)); };
      const auto found = AsContraction(context, kernel);
      // Why a kernel is no contraction is what tile_contraction says.
      if (std::holds_alternative<std::string>(found)) continue;
      const Contraction& contraction = std::get<Contraction>(found);
      const auto operands = AsTensorOperands(tree, contraction);
      if (const auto* why = std::get_if<std::string>(&operands)) {
        refuse_kernel(*why);
        continue;
      }
      const TensorParameters names = NamesIn(tree);
      const auto grid = TiledGrid(context, contraction, names.tile_m, names.tile_n);
      if (!grid)
        refuse_kernel(kUnknownGrid);
      else
        for (const Sizes& sizes : kSizes)
          propose(Tiled(context, contraction, std::get<TensorOperands>(operands), names, *grid, sizes));
    }
  }

  static TensorParameters NamesIn(const SyntaxTree& tree) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    return {unused("TILE_M"), unused("TILE_N"), unused("TILE_K"), unused("WARPS_M"), unused("WARPS_N"), unused("STAGES")};
  }

  static Proposal Tiled(const MutationContext& context, const Contraction& found, const TensorOperands& operands,
                        const TensorParameters& names, const std::vector<std::string>& grid, const Sizes& sizes) {
    const auto& [tile_m, tile_n, tile_k, warps_m, warps_n, stages] = names;
    const TensorWriter writer(context, found, operands, names);
    Proposal proposal;
    const int kernel = found.grid.kernel, body = context.tree.node(kernel).children.back();
    proposal.changes.push_back({kernel, Placement::kBefore, writer.Blocks()});
    proposal.changes.push_back({kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
    proposal.changes.push_back({body, Placement::kReplace, writer.Body()});
    const std::string threads = fmt::format("{} * {} * 32", warps_m, warps_n);
    const std::string& launched = found.grid.launch->kernel;
    proposal.launch = {{launched, "grid", fmt::format("{}", fmt::join(grid, ", "))},
                       {launched, "block", threads},
                       {launched, "shared", fmt::format("max({}, {})", writer.RingBytes(), writer.SumBytes())}};
    proposal.brings = {{tile_m, kTensorTiles, sizes.tile}, {tile_n, kTensorTiles, sizes.tile}, {tile_k, kTensorDepths, 32},
                       {warps_m, kWarps, sizes.warps},     {warps_n, kWarps, sizes.warps},     {stages, kStages, sizes.stages}};
    const auto divides = [&](const std::string& tile) { return fmt::format("{} * {} / 8 % ({}) == 0", tile, tile_k, threads); };
    proposal.constraints = {fmt::format("{} >= {} * 16 && {} >= {} * 16", tile_m, warps_m, tile_n, warps_n),
                            fmt::format("{} / {} * ({} / {}) <= {}", tile_m, warps_m, tile_n, warps_n, kMostElements),
                            divides(tile_m),
                            divides(tile_n),
                            fmt::format("{} <= {}", writer.RingBytes(), kTensorShared),
                            fmt::format("{} <= {}", writer.SumBytes(), kTensorShared)};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeTensorContraction() { return std::make_unique<TensorContraction>(); }

}  // namespace evo
