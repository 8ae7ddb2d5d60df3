#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/restated_products.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/attention/mapped_group_writer.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/warp_group_writer.h"

namespace evo {
namespace {

constexpr const char* kArch = "sm_90a";
// The sizes that are searched. An instruction computes 64 rows, and 128 or 256 columns.
const std::vector<std::int64_t> kTileM{64, 128, 192, 256};
const std::vector<std::int64_t> kTileN{128, 256};
const std::vector<std::int64_t> kGroupRows{64, 128};
const std::vector<std::int64_t> kRing{3, 4, 5, 6};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kGroupShared = 232448;
// Registers of a multiprocessor, and those that a thread has beside its sums.
constexpr int kRegisters = 65536;
constexpr int kOtherRegisters = 42;

// What a search begins with: the tile that large products want, and one of which small ones have enough for all multiprocessors.
struct GroupSizes {
  std::int64_t tile_m, tile_n, group_rows, stages;
};
constexpr GroupSizes kGroupSizes[] = {{256, 128, 128, 4}, {64, 128, 64, 5}};

// The same with tensor maps, where two groups share the rows of a tile.
const std::vector<std::int64_t> kMappedTiles{128, 256};
const std::vector<std::int64_t> kMappedRing{2, 3, 4, 5, 6};
const std::vector<std::int64_t> kRowsOfTiles{4, 8, 16, 32};
// An H100 or H200 has 132 multiprocessors; with a million every block has one tile.
const std::vector<std::int64_t> kResident{132, 1000000};
struct MappedSizes {
  std::int64_t tile_m, tile_n, stages;
};
constexpr MappedSizes kMappedSizes[] = {{128, 256, 4}, {128, 128, 6}};

// The types of elements differ in what an operator says of them. What it writes follows from the type.
struct GroupElements {
  std::string_view name;
  std::string_view description;
  std::variant<Contraction, std::string> (*contraction)(const MutationContext& context, int kernel);
  std::variant<TensorOperands, std::string> (*operands)(const SyntaxTree& tree, const Contraction& found);
  Promise promise;
};
// Products of elements with 11 significant bits are exact in float; tensor cores add them in an order of their own.
const GroupElements kGroupHalves{
    "warp_group_contraction",
    "computes a matrix product of half or bfloat16 by Hopper's products of warp groups, with sizes as parameters", AsContraction,
    AsTensorOperands, Promise::kReassociating};
// Sums of integers, which wrap, have the same bits in any order.
const GroupElements kGroupBytes{
    "integer_warp_group_contraction",
    "computes a matrix product of integers of 8 bits by Hopper's products of warp groups, with sums of 32 bits and sizes as "
    "parameters",
    AsContractionOfWords, AsMixedOperands, Promise::kExact};

// One thread per element of a matrix product becomes a block per tile of the output, whose warp groups multiply tiles in shared
// memory by wgmma while asynchronous copies bring the next tiles.
class WarpGroupContraction : public KernelVisitor {
 public:
  explicit WarpGroupContraction(const GroupElements& elements) : elements_(elements) {}

  std::string_view name() const override { return elements_.name; }
  Promise promise() const override { return elements_.promise; }
  std::string_view description() const override { return elements_.description; }
  double weight() const override { return 3; }
  std::string_view required_arch() const override { return kArch; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return ReassociatedProducts; }
  // Gives each contraction's proposal, or why it has none.
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const SyntaxTree& tree = context.tree;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const auto refuse_kernel = [&](const std::string& why) { refuse(fmt::format("{}: {}", tree.node(kernel).name, why)); };
      const auto found = elements_.contraction(context, kernel);
      // Why a kernel is no contraction is what tile_contraction says.
      if (std::holds_alternative<std::string>(found)) continue;
      const Contraction& contraction = std::get<Contraction>(found);
      const auto operands = elements_.operands(tree, contraction);
      if (const auto* why = std::get_if<std::string>(&operands)) {
        refuse_kernel(*why);
        continue;
      }
      const std::string& required = context.rendered.required_arch;
      const WarpGroupParameters names = NamesIn(tree);
      const auto grid = TiledGrid(context, contraction, names.tile_m, names.tile_n);
      if (!required.empty() && required != kArch)
        refuse_kernel(fmt::format("its source requires {}, and products of warp groups {}", required, kArch));
      else if (!grid)
        refuse_kernel(kUnknownGrid);
      else
        for (const GroupSizes& sizes : kGroupSizes)
          propose(Tiled(context, contraction, std::get<TensorOperands>(operands), names, *grid, sizes));
      if (!required.empty() && required != kArch) continue;
      if (const auto mapped = AsMappedOperands(context, contraction, std::get<TensorOperands>(operands))) {
        for (const MappedSizes& sizes : kMappedSizes)
          propose(Mapped(context, contraction, std::get<TensorOperands>(operands), *mapped, sizes));
      }
    }
  }

  static std::string Requirement(const MutationContext& context) {
    return context.rendered.required_arch.empty() ? fmt::format("// evo:requires {}\n", kArch) : std::string();
  }

  // With tensor maps, of which both factors must be matrices.
  static Proposal Mapped(const MutationContext& context, const Contraction& found, const TensorOperands& operands,
                         const MappedOperands& mapped, const MappedSizes& sizes) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const MappedGroupParameters names{unused("TILE_M"), unused("TILE_N"), unused("STAGES"), unused("GROUP"), unused("RESIDENT")};
    const MappedGroupWriter writer(context, found, operands, mapped, names);
    Proposal proposal;
    const int kernel = found.grid.kernel, body = context.tree.node(kernel).children.back();
    proposal.changes = {{kernel, Placement::kBefore, Requirement(context) + writer.Blocks()},
                        WithBounds(context.tree, kernel, "384, 1"),
                        {LastParameter(context.tree, kernel), Placement::kAfter, writer.Maps()},
                        {body, Placement::kReplace, writer.Body()}};
    proposal.launch = writer.Launches();
    proposal.brings = {{names.tile_m, kMappedTiles, sizes.tile_m},
                       {names.tile_n, kMappedTiles, sizes.tile_n},
                       {names.stages, kMappedRing, sizes.stages},
                       {names.group, kRowsOfTiles, 8},
                       {names.resident, kResident, 132}};
    proposal.constraints = {fmt::format("{} * {} <= 32768", names.tile_m, names.tile_n),
                            fmt::format("{} <= {}", writer.SharedBytes(), kGroupShared)};
    return proposal;
  }

  static WarpGroupParameters NamesIn(const SyntaxTree& tree) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    return {unused("TILE_M"), unused("TILE_N"), unused("GROUP_ROWS"), unused("STAGES")};
  }

  static Proposal Tiled(const MutationContext& context, const Contraction& found, const TensorOperands& operands,
                        const WarpGroupParameters& names, const std::vector<std::string>& grid, const GroupSizes& sizes) {
    const auto& [tile_m, tile_n, group_rows, stages] = names;
    const WarpGroupWriter writer(context, found, operands, names);
    Proposal proposal;
    const int kernel = found.grid.kernel, body = context.tree.node(kernel).children.back();
    proposal.changes = {{kernel, Placement::kBefore, Requirement(context) + writer.Blocks()},
                        {kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"},
                        WithBounds(context.tree, kernel, writer.Threads()),
                        {body, Placement::kReplace, writer.Body()}};
    const std::string& launched = found.grid.launch->kernel;
    proposal.launch = {{launched, "grid", fmt::format("{}", fmt::join(grid, ", "))},
                       {launched, "block", writer.Threads()},
                       {launched, "shared", fmt::format("max({}, {})", writer.RingBytes(), writer.SumBytes())}};
    proposal.brings = {{tile_m, kTileM, sizes.tile_m},
                       {tile_n, kTileN, sizes.tile_n},
                       {group_rows, kGroupRows, sizes.group_rows},
                       {stages, kRing, sizes.stages}};
    proposal.constraints = {
        fmt::format("{} % {} == 0", tile_m, group_rows), fmt::format("{} <= 128", writer.ThreadSums()),
        fmt::format("({}) * ({} + {}) <= {}", writer.Threads(), writer.ThreadSums(), kOtherRegisters, kRegisters),
        fmt::format("{} <= {}", writer.RingBytes(), kGroupShared), fmt::format("{} <= {}", writer.SumBytes(), kGroupShared)};
    return proposal;
  }

  const GroupElements& elements_;
};

}  // namespace

std::unique_ptr<Mutator> MakeWarpGroupContraction() { return std::make_unique<WarpGroupContraction>(kGroupHalves); }
std::unique_ptr<Mutator> MakeIntegerWarpGroupContraction() { return std::make_unique<WarpGroupContraction>(kGroupBytes); }

}  // namespace evo
