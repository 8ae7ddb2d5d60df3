#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/contraction.h"
#include "mutators/analysis/product_restatement.h"
#include "mutators/analysis/work_sharing.h"
#include "mutators/parallelism/contraction_text.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/tile_writer.h"

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
      propose(Tiled(context, found, *grid));
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
};

}  // namespace

std::unique_ptr<Mutator> MakeTileContraction() { return std::make_unique<TileContraction>(); }

}  // namespace evo
