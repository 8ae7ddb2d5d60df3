#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/parallelism/convolutions/convolution_launch.h"
#include "mutators/parallelism/convolutions/convolution_writer.h"
#include "mutators/parallelism/convolutions/merged_convolution.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"

namespace evo {

std::unique_ptr<Mutator> MakeConvolutionTiles();

namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kSplitTilesOfFilters{32, 64, 128};
const std::vector<std::int64_t> kSplitTilesOfPixels{64, 128, 256};
const std::vector<std::int64_t> kSplitDepths{16, 32};
const std::vector<std::int64_t> kSplitWarps{1, 2, 4};
const std::vector<std::int64_t> kSplitStages{2, 3, 4};
const std::vector<std::int64_t> kSplitBlocks{1, 2, 3, 4};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kSharedOfSplitConvolution = 232448;
// Elements of a warp: with more, the sums and what is loaded for them exceed the registers of a thread.
constexpr int kMostSplitElements = 4096;

constexpr int kRegistersOfMultiprocessor = 65536;

// What a search begins with: tiles for many filters, for few, and those of which small problems have enough for all
// multiprocessors. `blocks` are those of a multiprocessor, for which the compiler saves registers.
struct SplitConvolutionStart {
  std::int64_t tile_m, tile_n, tile_k, warps_m, warps_n, stages, blocks;
};
constexpr SplitConvolutionStart kSplitStarts[] = {
    {128, 128, 16, 2, 2, 4, 1}, {64, 128, 16, 2, 2, 3, 3}, {32, 64, 16, 1, 2, 3, 4}};

// One thread per element of a convolution of floats becomes a block per tile of filters and pixels on tensor cores, where each
// float is the sum of two numbers of tf32 and each product that of three.
class SplitTensorConvolution : public KernelVisitor {
 public:
  std::string_view name() const override { return "split_tensor_convolution"; }
  // A float is the sum of two numbers of tf32 up to its last bits.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "computes a convolution of floats on tensor cores, each split into two numbers of tf32, with sizes as parameters";
  }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  // What convolution_tiles takes as it is has been refused here for a reason.
  std::vector<Proposal> ProposalsByResults(const MutationContext& context) const override {
    const auto of_tiles = MakeConvolutionTiles();
    for (const Proposal& tiles : static_cast<const SourceMutator&>(*of_tiles).Proposals(context)) {
      const auto is_merged = [](const LaunchChange& change) { return change.field == "removed"; };
      if (std::none_of(tiles.launch.begin(), tiles.launch.end(), is_merged)) return {};
    }
    return InMergedConvolution(context, [this](const MutationContext& merged) { return ProposalsIn(merged); });
  }
  // Gives each convolution's proposals. Why a kernel is none is what convolution_tiles says.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const SyntaxTree& tree = context.tree;
    const auto silently = [](const std::string&) {};
    VisitRecognised(context, silently, AsConvolution, [&](const Convolution& found, const Refuse&) {
      if (found.depthwise)
        refuse(fmt::format("{}: a filter has one channel only, which is no product of matrices", tree.node(found.kernel).name));
      else if (tree.node(found.f).kind_name != "ParmDecl")
        refuse(fmt::format("{}: {} is in constant memory, from which no asynchronous copies come", tree.node(found.kernel).name,
                           tree.node(found.f).name));
      else if (found.element == "float")
        for (const SplitConvolutionStart& start : kSplitStarts) propose(Tiled(context, found, start));
      else
        refuse(fmt::format("{}: the elements of {} are no floats", tree.node(found.kernel).name, tree.node(found.x).name));
    });
  }

  static Proposal Tiled(const MutationContext& context, const Convolution& found, const SplitConvolutionStart& start) {
    const SyntaxTree& tree = context.tree;
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    const ConvolutionParameters names{unused("TILE_M"),  unused("TILE_N"),          unused("TILE_K"),           unused("WARPS_M"),
                                      unused("WARPS_N"), NameOfImages(tree, found), NameOfFilters(tree, found), unused("STAGES")};
    const auto &tile_m = names.tile_m, &tile_n = names.tile_n, &tile_k = names.tile_k;
    const auto &warps_m = names.warps_m, &warps_n = names.warps_n;
    const ConvolutionWriter writer(tree, found, ConvolutionForm::kSplitFloats, names);
    const std::string blocks = unused("BLOCKS"), threads = writer.Threads(), tiles = writer.TileBytes(), sums = writer.SumBytes();
    Proposal proposal = ConvolutionChanges(tree, found, writer);
    proposal.changes.push_back(WithBounds(tree, found.kernel, fmt::format("{}, {}", threads, blocks)));
    proposal.launch.push_back({found.launch->kernel, "shared", fmt::format("max({}, {})", tiles, sums)});
    proposal.brings = {{tile_m, kSplitTilesOfFilters, start.tile_m}, {tile_n, kSplitTilesOfPixels, start.tile_n},
                       {tile_k, kSplitDepths, start.tile_k},         {warps_m, kSplitWarps, start.warps_m},
                       {warps_n, kSplitWarps, start.warps_n},        {names.stages, kSplitStages, start.stages},
                       {blocks, kSplitBlocks, start.blocks}};
    // A thread's sums, its part of the filters and sums of a step, what it knows of its pixels, and others.
    const std::string registers =
        fmt::format("{0} / {1} * ({2} / {3}) / 32 + {0} / {1} * 5 / 4 + {2} / 16 + 16", tile_m, warps_m, tile_n, warps_n);

    proposal.constraints = {fmt::format("{} >= {} * 16 && {} >= {} * 32", tile_m, warps_m, tile_n, warps_n),
                            fmt::format("{} / {} * ({} / {}) <= {}", tile_m, warps_m, tile_n, warps_n, kMostSplitElements),
                            fmt::format("({}) * ({}) * {} <= {}", registers, threads, blocks, kRegistersOfMultiprocessor),
                            fmt::format("{} * {} / 4 % ({}) == 0", tile_m, tile_k, threads),
                            fmt::format("{} <= {}", tiles, kSharedOfSplitConvolution),
                            fmt::format("{} <= {}", sums, kSharedOfSplitConvolution)};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeSplitTensorConvolution() { return std::make_unique<SplitTensorConvolution>(); }

}  // namespace evo
