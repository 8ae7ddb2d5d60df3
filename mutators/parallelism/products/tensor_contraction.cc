#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/restated_products.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {
namespace {

// The sizes that are searched. A product of the tensor cores takes 16 x 16 x 16 elements in two instructions, or of floats in
// twelve; of bytes 16 x 16 x 32 in two.
const std::vector<std::int64_t> kTensorTiles{16, 32, 64, 128, 256};
const std::vector<std::int64_t> kTensorDepths{16, 32, 64}, kByteDepths{32, 64, 128};
const std::vector<std::int64_t> kWarps{1, 2, 4};
const std::vector<std::int64_t> kStages{2, 3, 4};
// Dynamic shared memory of a block on Hopper, in bytes.
constexpr int kTensorShared = 232448;
// Elements of a warp: with more, the sums and what is loaded for them exceed the registers of a thread.
constexpr int kMostElements = 4096;

// What a search begins with.
struct Sizes {
  std::int64_t tile_m, tile_n, tile_k, warps_m, warps_n, stages;
};

// The types of elements differ in what an operator says of them, and in the writer.
struct OperandElements {
  std::string_view name;
  std::string_view description;
  std::variant<TensorOperands, std::string> (*operands)(const SyntaxTree& tree, const Contraction& found);
  Promise promise;
  const std::vector<std::int64_t>& depths;
  std::vector<Sizes> sizes;  // for large products, and for small ones: as many tiles as fill all multiprocessors
  bool one_block;            // whether the compiler is told that one block per multiprocessor is enough
};
// Products of elements with 11 significant bits are exact in float; tensor cores add them in an order of their own. A float is
// the sum of two such elements up to its last bits.
const OperandElements kHalves{
    "tensor_contraction",
    "computes a matrix product of half or bfloat16 on tensor cores, by tiles that come asynchronously, with sizes as parameters",
    AsTensorOperands,
    Promise::kReassociating,
    kTensorDepths,
    {{128, 128, 32, 2, 2, 3}, {32, 32, 32, 1, 1, 2}},
    false};
// With a depth of 32, tiles of a warp of 64 x 64 elements exceed its registers. Smaller ones leave some over, but ptxas uses them
// for products that do not wait for each other only where it need not save any for other blocks. An output of few columns has
// tiles of its own: wider ones would compute what nobody asks for.
const OperandElements kFloats{
    "split_tensor_contraction",
    "computes a matrix product of floats on tensor cores, each split into two numbers of tf32, with sizes as parameters",
    AsSplitOperands,
    Promise::kReassociating,
    kTensorDepths,
    {{128, 128, 16, 2, 2, 4}, {32, 32, 32, 1, 1, 2}, {128, 32, 16, 4, 1, 4}},
    true};
// Sums of integers, which wrap, have the same bits in any order.
const OperandElements kBytes{
    "integer_tensor_contraction",
    "computes a matrix product of integers of 8 bits on tensor cores, with sums of 32 bits and sizes as parameters",
    AsIntegerOperands,
    Promise::kExact,
    kByteDepths,
    {{128, 128, 64, 2, 2, 4}, {32, 32, 64, 1, 1, 3}},
    false};

// One thread per element of a matrix product becomes a block per tile of the output on tensor cores: tiles of both factors come
// through a ring in shared memory by asynchronous copies, warps load parts of them as the instructions want them, and the sums go
// to the output through shared memory. All of it at once, because tensor cores alone gain nothing.
class TensorContraction : public KernelVisitor {
 public:
  explicit TensorContraction(const OperandElements& elements) : elements_(elements) {}

  std::string_view name() const override { return elements_.name; }
  Promise promise() const override { return elements_.promise; }
  std::string_view description() const override { return elements_.description; }
  double weight() const override { return 3; }

 private:
  ThreadLoops loops() const override { return ThreadLoops::kOfElements; }
  Restate restate() const override { return ReassociatedProducts; }
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
      const auto operands = elements_.operands(tree, contraction);
      if (const auto* why = std::get_if<std::string>(&operands)) {
        refuse_kernel(*why);
        continue;
      }
      const TensorParameters names = NamesIn(tree);
      const auto grid = TiledGrid(context, contraction, names.tile_m, names.tile_n);
      if (!grid)
        refuse_kernel(kUnknownGrid);
      else
        for (const Sizes& sizes : elements_.sizes)
          propose(Tiled(context, contraction, std::get<TensorOperands>(operands), names, *grid, sizes));
    }
  }

  static TensorParameters NamesIn(const SyntaxTree& tree) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    return {unused("TILE_M"), unused("TILE_N"), unused("TILE_K"), unused("WARPS_M"), unused("WARPS_N"), unused("STAGES")};
  }

  Proposal Tiled(const MutationContext& context, const Contraction& found, const TensorOperands& operands,
                 const TensorParameters& names, const std::vector<std::string>& grid, const Sizes& sizes) const {
    const auto& [tile_m, tile_n, tile_k, warps_m, warps_n, stages] = names;
    const auto writer = MakeTensorWriter(context, found, operands, names);
    Proposal proposal;
    const int kernel = found.grid.kernel, body = context.tree.node(kernel).children.back();
    proposal.changes.push_back({kernel, Placement::kBefore, writer->Blocks()});
    proposal.changes.push_back({kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
    proposal.changes.push_back({body, Placement::kReplace, writer->Body()});
    const std::string threads = fmt::format("{} * {} * 32", warps_m, warps_n);
    if (elements_.one_block) proposal.changes.push_back(WithBounds(context.tree, kernel, fmt::format("{}, 1", threads)));
    const std::string& launched = found.grid.launch->kernel;
    proposal.launch = {{launched, "grid", fmt::format("{}", fmt::join(grid, ", "))},
                       {launched, "block", threads},
                       {launched, "shared", fmt::format("max({}, {})", writer->RingBytes(), writer->SumBytes())}};
    proposal.brings = {{tile_m, kTensorTiles, sizes.tile_m},     {tile_n, kTensorTiles, sizes.tile_n},
                       {tile_k, elements_.depths, sizes.tile_k}, {warps_m, kWarps, sizes.warps_m},
                       {warps_n, kWarps, sizes.warps_n},         {stages, kStages, sizes.stages}};
    const auto divides = [&](const std::string& tile) {
      return fmt::format("{} * {} / {} % ({}) == 0", tile, tile_k, VectorElements(operands.type), threads);
    };
    proposal.constraints = {fmt::format("{} >= {} * 16 && {} >= {} * 16", tile_m, warps_m, tile_n, warps_n),
                            fmt::format("{} / {} * ({} / {}) <= {}", tile_m, warps_m, tile_n, warps_n, kMostElements),
                            divides(tile_m),
                            divides(tile_n),
                            fmt::format("{} <= {}", writer->RingBytes(), kTensorShared),
                            fmt::format("{} <= {}", writer->SumBytes(), kTensorShared)};
    return proposal;
  }

  const OperandElements& elements_;
};

}  // namespace

std::unique_ptr<Mutator> MakeTensorContraction() { return std::make_unique<TensorContraction>(kHalves); }
std::unique_ptr<Mutator> MakeSplitTensorContraction() { return std::make_unique<TensorContraction>(kFloats); }
std::unique_ptr<Mutator> MakeIntegerTensorContraction() { return std::make_unique<TensorContraction>(kBytes); }

}  // namespace evo
