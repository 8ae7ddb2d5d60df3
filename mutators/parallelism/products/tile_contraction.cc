#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/restated_products.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/tensor_writer.h"
#include "mutators/parallelism/products/tile_ring_writer.h"
#include "mutators/parallelism/products/tile_writer.h"

namespace evo {
namespace {

// The sizes that are searched. Below 16 a block has no warp to itself; above 256 its sums do not fit into registers.
const std::vector<std::int64_t> kTiles{16, 32, 64, 128, 256};
const std::vector<std::int64_t> kDepths{8, 16, 32};
const std::vector<std::int64_t> kElements{1, 2, 4, 8};
// Static shared memory of a block, in bytes.
constexpr int kShared = 49152;
// With more threads, 8 x 8 sums each exceed the registers of a multiprocessor.
constexpr int kMostTileThreads = 512;

// Of floats: sizes by fours, because a thread loads four at once.
const std::vector<std::int64_t> kRingTiles{32, 64, 128, 256};
const std::vector<std::int64_t> kFours{4, 8, 16};
const std::vector<std::int64_t> kLanes{2, 4, 8, 16};
const std::vector<std::int64_t> kRingStages{2, 3, 4};
const std::vector<std::int64_t> kBlocks{1, 2, 3, 4};
// An even number, so that parts of two steps take turns.
const std::vector<std::int64_t> kUnrolled{2, 4, 8, 16, 32};
// Dynamic shared memory of a block and of a multiprocessor on Hopper, in bytes. Each block takes 1024 of the latter besides.
constexpr int kRingShared = 232448;
constexpr int kAllShared = 233472;
// Registers of a multiprocessor, of which threads get eights, and the most that a thread can have.
constexpr int kAllRegisters = 65536;
constexpr int kThreadRegisters = 255;

// What a search begins with: tiles that large products want, those of which small ones have enough for all multiprocessors, and
// those of an output of few columns.
struct RingSizes {
  std::int64_t tile_m, tile_n, thread_m, thread_n, stages, blocks;
};
constexpr RingSizes kRingSizes[] = {{128, 256, 8, 16, 4, 1}, {64, 64, 8, 4, 4, 3}, {128, 32, 8, 4, 4, 4}};

// One thread per element of a matrix product becomes a block per tile of the output: both factors' parts come through shared
// memory, and each thread keeps a tile of sums in registers. All of it at once, because shared tiles alone are slower than what
// they replace.
class TileContraction : public KernelVisitor {
 public:
  std::string_view name() const override { return "tile_contraction"; }
  // Each sum adds the same products in the same order. Past the end of k it adds 0 * 0, which changes no sum that began at 0.
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "computes a matrix product by tiles: of a block in shared memory, of a thread in registers, with sizes as parameters";
  }
  double weight() const override { return 3; }

 private:
  struct Names {
    std::string tile_m, tile_n, tile_k, thread_m, thread_n;
  };

  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return RestatedProducts; }
  // Gives each contraction's proposal, or why a kernel is none.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitRecognised(context, refuse, AsContraction, [&](const Contraction& found, const Refuse& refuse_kernel) {
      const auto grid = GridOf(context, found);
      if (!grid) return refuse_kernel(kUnknownGrid);
      const auto operands = AsSplitOperands(context.tree, found);
      const auto* floats = std::get_if<TensorOperands>(&operands);
      if (floats == nullptr) return propose(Tiled(context, found, *grid));
      for (const RingSizes& sizes : kRingSizes) propose(InRing(context, found, *floats, *grid, sizes));
    });
  }

  static Names NamesIn(const SyntaxTree& tree) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    return {unused("TILE_M"), unused("TILE_N"), unused("TILE_K"), unused("THREAD_M"), unused("THREAD_N")};
  }

  static std::optional<std::vector<std::string>> GridOf(const MutationContext& context, const Contraction& found) {
    const Names names = NamesIn(context.tree);
    return TiledGrid(context, found, names.tile_m, names.tile_n);
  }

  static Proposal Tiled(const MutationContext& context, const Contraction& found, const std::vector<std::string>& grid) {
    const auto [tile_m, tile_n, tile_k, thread_m, thread_n] = NamesIn(context.tree);
    const TileWriter writer(context, found, {tile_m, tile_n, tile_k, thread_m, thread_n});
    Proposal proposal;
    const int body = context.tree.node(found.grid.kernel).children.back();
    proposal.changes.push_back({body, Placement::kReplace, writer.Body()});
    const std::string threads = fmt::format("{} / {} * ({} / {})", tile_m, thread_m, tile_n, thread_n);
    const std::string& kernel = found.grid.launch->kernel;
    proposal.launch = {{kernel, "grid", fmt::format("{}", fmt::join(grid, ", "))}, {kernel, "block", threads}};
    proposal.brings = {
        {tile_m, kTiles, 64}, {tile_n, kTiles, 64}, {tile_k, kDepths, 16}, {thread_m, kElements, 4}, {thread_n, kElements, 4}};
    const auto divides = [&](const std::string& tile) { return fmt::format("{} * {} % ({}) == 0", tile, tile_k, threads); };
    proposal.constraints = {fmt::format("{0} >= 32 && {0} <= {1}", threads, kMostTileThreads), divides(tile_m), divides(tile_n),
                            fmt::format("{} <= {}", writer.SharedBytes(), kShared)};
    return proposal;
  }

  // Floats come by asynchronous copies, which leave their registers to the sums.
  static Proposal InRing(const MutationContext& context, const Contraction& found, const TensorOperands& operands,
                         const std::vector<std::string>& grid, const RingSizes& sizes) {
    const auto [tile_m, tile_n, tile_k, thread_m, thread_n] = NamesIn(context.tree);
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const std::string lanes = unused("LANES_M"), stages = unused("STAGES"), blocks = unused("BLOCKS"),
                      unrolled = unused("UNROLL_K");
    const TileRingWriter writer(context, found, operands,
                                {tile_m, tile_n, tile_k, thread_m, thread_n, lanes, stages, blocks, unrolled});
    Proposal proposal;
    const int kernel = found.grid.kernel, body = context.tree.node(kernel).children.back();
    const std::string threads = writer.Threads();
    proposal.changes = {{kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"},
                        WithBounds(context.tree, kernel, fmt::format("{}, {}", threads, blocks)),
                        {body, Placement::kReplace, writer.Body()}};
    const std::string& launched = found.grid.launch->kernel;
    proposal.launch = {{launched, "grid", fmt::format("{}", fmt::join(grid, ", "))},
                       {launched, "block", threads},
                       {launched, "shared", writer.RingBytes()}};
    proposal.brings = {{tile_m, kRingTiles, sizes.tile_m},  {tile_n, kRingTiles, sizes.tile_n}, {tile_k, kDepths, 16},
                       {thread_m, kFours, sizes.thread_m},  {thread_n, kFours, sizes.thread_n}, {lanes, kLanes, 4},
                       {stages, kRingStages, sizes.stages}, {blocks, kBlocks, sizes.blocks},    {unrolled, kUnrolled, 16}};
    const auto divides = [](const std::string& tile, const std::string& warp) {
      return fmt::format("{} % ({}) == 0", tile, warp);
    };
    proposal.constraints = {fmt::format("{} <= {}", threads, kMostTileThreads),
                            divides(tile_m, fmt::format("{} * {}", lanes, thread_m)),
                            divides(tile_n, fmt::format("32 / {} * {}", lanes, thread_n)),
                            writer.SharesOut(true),
                            writer.SharesOut(false),
                            fmt::format("{} <= {}", writer.Registers(), kThreadRegisters),
                            fmt::format("{} <= {} / ({} * {}) * 8", writer.Registers(), kAllRegisters / 8, threads, blocks),
                            fmt::format("{} <= {}", writer.SumBytes(), writer.RingBytes()),
                            fmt::format("{} <= {}", writer.RingBytes(), kRingShared),
                            fmt::format("({} + 1024) * {} <= {}", writer.RingBytes(), blocks, kAllShared)};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeTileContraction() { return std::make_unique<TileContraction>(); }

}  // namespace evo
