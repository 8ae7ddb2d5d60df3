#include <fmt/format.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/convolutions/convolution_launch.h"
#include "mutators/parallelism/convolutions/convolution_writer.h"
#include "mutators/parallelism/convolutions/merged_convolution.h"
#include "mutators/parallelism/kernel_visitor.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kTilesOfFilters{32, 64, 128};
const std::vector<std::int64_t> kTilesOfPixels{64, 128};
const std::vector<std::int64_t> kTilesOfTaps{16, 32, 64};
const std::vector<std::int64_t> kWarpsAlongTile{1, 2, 4};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kSharedOfConvolution = 232448;
// Registers of a thread that sums and the elements on their way to shared memory may take; with more, they spill.
constexpr int kRegistersOfSums = 144;

// What a search begins with: blocks that large problems want, and those of which small ones have enough for all multiprocessors.
struct ConvolutionStart {
  std::int64_t tile_m, tile_n, tile_k, warps_m, warps_n;
};
constexpr ConvolutionStart kStartsOfConvolution[] = {{64, 128, 32, 2, 2}, {32, 64, 32, 1, 2}};

// Of floats, on no tensor cores, which would round them: filters and pixels of a thread in the place of warps.
constexpr ConvolutionStart kStartsOfFloats[] = {{64, 64, 16, 4, 4}, {32, 64, 8, 2, 4}};
const std::vector<std::int64_t> kTilesOfFloats{16, 32, 64, 128};
const std::vector<std::int64_t> kDepthsOfFloats{8, 16, 32};
const std::vector<std::int64_t> kElementsOfThread{1, 2, 4, 8};
constexpr int kMostThreadsOfFloats = 512;
constexpr int kStaticShared = 49152;

// With one channel a group: rows and columns of a block, and rows of a thread.
constexpr ConvolutionStart kStartsOfDepthwise[] = {{16, 32, 0, 4, 0}, {8, 16, 0, 1, 0}};
const std::vector<std::int64_t> kRowsOfBlock{4, 8, 16, 32};
const std::vector<std::int64_t> kColumnsOfBlock{16, 32, 64};
const std::vector<std::int64_t> kRowsOfThread{1, 2, 4, 8};
constexpr int kMostThreadsOfDepthwise = 1024;
// The same of images of one row.
constexpr ConvolutionStart kStartsOfRow[] = {{1, 256, 0, 1, 0}, {1, 128, 0, 1, 0}};
const std::vector<std::int64_t> kOneRow{1};
const std::vector<std::int64_t> kColumnsOfRow{64, 128, 256, 512, 1024};

// One thread per element of a convolution becomes a block per tile of filters and pixels on tensor cores, or, with one channel a
// group, a block per tile of a channel. All of it at once,
// because each step alone makes the kernel slower.
class ConvolutionTiles : public KernelVisitor {
 public:
  std::string_view name() const override { return "convolution_tiles"; }
  // Products of elements with 11 significant bits are exact in float; tensor cores add them in an order of their own. Zeros are
  // added for taps outside of the image.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "computes a convolution as a product of filters and pixels by tiles, on tensor cores if it is of half or bfloat16, "
           "with sizes as parameters";
  }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  std::vector<Proposal> ProposalsByResults(const MutationContext& context) const override {
    return InMergedConvolution(context, [this](const MutationContext& merged) { return ProposalsIn(merged); });
  }
  std::vector<std::string> RefusalsByResults(const MutationContext& context) const override {
    return WhyNoMergedConvolution(context, [this](const MutationContext& merged) { return RefusalsIn(merged); });
  }
  // Gives each convolution's proposals, or why a kernel that resembles one has none.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitRecognised(context, refuse, AsConvolution, [&](const Convolution& found, const Refuse&) {
      if (found.depthwise) {
        const auto& starts = found.out_height.constant == 1 ? kStartsOfRow : kStartsOfDepthwise;
        for (const ConvolutionStart& start : starts) propose(Depthwise(context, found, start));
        return;
      }
      const auto& starts = found.element == "float" ? kStartsOfFloats : kStartsOfConvolution;
      for (const ConvolutionStart& start : starts) propose(Tiled(context, found, start));
    });
  }

  // A block for a tile of one channel of an image.
  static Proposal Depthwise(const MutationContext& context, const Convolution& found, const ConvolutionStart& start) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const ConvolutionParameters names{
        unused("TILE_Y"), unused("TILE_X"), "", unused("THREAD_Y"), "", "", NameOfFilters(context.tree, found), ""};
    const ConvolutionWriter writer(context.tree, found, ConvolutionForm::kDepthwise, names);
    Proposal proposal = ConvolutionChanges(context.tree, found, writer);
    proposal.launch.push_back({found.launch->kernel, "shared", writer.TileBytes()});
    const bool one_row = found.out_height.constant == 1;
    proposal.brings = {{names.tile_m, one_row ? kOneRow : kRowsOfBlock, start.tile_m},
                       {names.tile_n, one_row ? kColumnsOfRow : kColumnsOfBlock, start.tile_n},
                       {names.warps_m, one_row ? kOneRow : kRowsOfThread, start.warps_m}};
    const std::string threads = writer.Threads();
    proposal.constraints = {fmt::format("{} >= {}", names.tile_m, names.warps_m),
                            fmt::format("{0} >= 32 && {0} <= {1}", threads, kMostThreadsOfDepthwise),
                            fmt::format("{} <= {}", writer.MostTileBytes(), kSharedOfConvolution)};
    return proposal;
  }

  static Proposal Tiled(const MutationContext& context, const Convolution& found, const ConvolutionStart& start) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const bool floats = found.element == "float";
    const ConvolutionParameters names{unused("TILE_M"),
                                      unused("TILE_N"),
                                      unused("TILE_K"),
                                      unused(floats ? "THREAD_M" : "WARPS_M"),
                                      unused(floats ? "THREAD_N" : "WARPS_N"),
                                      NameOfImages(context.tree, found),
                                      NameOfFilters(context.tree, found),
                                      ""};
    const auto &tile_m = names.tile_m, &tile_n = names.tile_n, &tile_k = names.tile_k;
    const auto &warps_m = names.warps_m, &warps_n = names.warps_n;
    const ConvolutionWriter writer(context.tree, found, floats ? ConvolutionForm::kFloats : ConvolutionForm::kHalves, names);
    Proposal proposal = ConvolutionChanges(context.tree, found, writer);
    const std::string& launched = found.launch->kernel;
    if (floats) {
      if (found.launch->shared.text() != "0") proposal.launch.push_back({launched, "shared", "0"});
      const std::string threads = writer.Threads();
      proposal.brings = {{tile_m, kTilesOfFloats, start.tile_m},
                         {tile_n, kTilesOfFloats, start.tile_n},
                         {tile_k, kDepthsOfFloats, start.tile_k},
                         {warps_m, kElementsOfThread, start.warps_m},
                         {warps_n, kElementsOfThread, start.warps_n}};
      proposal.constraints = {fmt::format("{} >= {} && {} >= {}", tile_m, warps_m, tile_n, warps_n),
                              fmt::format("{0} >= 32 && {0} <= {1}", threads, kMostThreadsOfFloats),
                              fmt::format("{} <= {}", writer.TileBytes(), kStaticShared)};
      return proposal;
    }
    proposal.launch.push_back({launched, "shared", fmt::format("max({}, {})", writer.TileBytes(), writer.SumBytes())});
    proposal.brings = {{tile_m, kTilesOfFilters, start.tile_m},
                       {tile_n, kTilesOfPixels, start.tile_n},
                       {tile_k, kTilesOfTaps, start.tile_k},
                       {warps_m, kWarpsAlongTile, start.warps_m},
                       {warps_n, kWarpsAlongTile, start.warps_n}};
    const std::string threads = writer.Threads();
    proposal.constraints = {fmt::format("{} >= {} * 16 && {} >= {} * 32", tile_m, warps_m, tile_n, warps_n),
                            fmt::format("({} + {}) * {} / ({}) <= {}", tile_m, tile_k, tile_n, threads, kRegistersOfSums),
                            fmt::format("{} * {} / 8 % ({}) == 0", tile_m, tile_k, threads),
                            fmt::format("{} <= {}", tile_k, threads),
                            fmt::format("{} <= {}", writer.TileBytes(), kSharedOfConvolution),
                            fmt::format("{} <= {}", writer.SumBytes(), kSharedOfConvolution)};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeConvolutionTiles() { return std::make_unique<ConvolutionTiles>(); }

}  // namespace evo
