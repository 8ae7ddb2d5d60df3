#include "mutators/parallelism/warp_group_writer.h"

#include <fmt/format.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

constexpr std::string_view kProduct = "MultiplyGroup";

}  // namespace

WarpGroupWriter::WarpGroupWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                                 WarpGroupParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      operands_(std::move(operands)),
      names_(std::move(parameters)),
      element_(operands_.type == "__half" ? "half" : operands_.type),
      m_{found_.a, found_.m, operands_.a, names_.tile_m, "m"},
      n_{found_.b, found_.n, operands_.b, names_.tile_n, "n"} {}

// The name of a building block in this source.
std::string WarpGroupWriter::Block(std::string_view name) const { return UnusedName(tree_.text(), std::string(name)); }

std::string WarpGroupWriter::Blocks() const {
  std::string text;
  for (const DeviceBlock* block : {&kCopyVector, &kSwizzled, &kDescribe, &kShowTensorCores, &kBeginProducts, &kCommitProducts,
                                   &kFinishProducts})
    text += BlockText(*block, operands_.type, Block(block->name));
  for (const int columns : {128, 256}) text += GroupProductText(operands_.type, Block(kProduct), columns, IsByK(m_), IsByK(n_));
  return text;
}

std::string WarpGroupWriter::Threads() const { return fmt::format("{} * 2 + 128", names_.tile_m); }

std::string WarpGroupWriter::RingBytes() const {
  return fmt::format("{} * ({} + {}) * 128", names_.stages, names_.tile_m, names_.tile_n);
}

std::string WarpGroupWriter::SumBytes() const { return fmt::format("{} * ({} + 8) * 4", names_.tile_m, names_.tile_n); }

std::string WarpGroupWriter::Constants() const {
  const auto& [tile_m, tile_n, stages] = names_;
  const std::string memory = UnusedName(tree_.text(), "tiles");
  std::string text = fmt::format(
      "  // Each warp group but the last computes 64 x {} elements on tensor cores; the last one brings the tiles, 64 of k deep, "
      "of\n  // which {} are in shared memory or on their way there.\n",
      tile_n, stages);
  text += fmt::format("  extern __shared__ __align__(1024) unsigned char {}[];\n", memory);
  std::string from = memory;
  for (const Side& side : {m_, n_}) {
    const std::string tile = Fresh("tile_" + side.letter);
    text += fmt::format("  {0} (*{1})[{2} * 64] = reinterpret_cast<{0} (*)[{2} * 64]>({3});\n", element_, tile, side.size, from);
    from = fmt::format("{} + {}", tile, stages);
  }
  text += First(m_.index, m_.letter, m_.size) + First(n_.index, n_.letter, n_.size) + Common("  ");
  return text + fmt::format("  const int {} = ({} + 63) / 64;\n", Fresh("steps"), Parenthesised(tree_, found_.k.bound));
}

// The loop that brings a side's part of a tile, 8 elements at a time.
std::string WarpGroupWriter::Copies(const Side& side) const {
  const std::string t = Fresh("t"), next = Fresh("next"), round = Fresh("round");
  const std::string row = Fresh("row_of_tile"), vector = Fresh("vector");
  const SyntaxNode& index = tree_.node(side.index.declaration);
  const SyntaxNode& k = tree_.node(found_.k.counter);
  const std::string vectors = IsByK(side) ? "8" : fmt::format("({} / 8)", side.size);
  std::string text = fmt::format("#pragma unroll 4\n        for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", round, side.size);
  text += fmt::format("          const int {} = {} * 128 + threadIdx.x % 128;\n", t, round);
  text += fmt::format("          const int {} = {} / {}, {} = {} % {};\n", row, t, vectors, vector, t, vectors);
  const std::string along = fmt::format("{} * 8", vector);
  text += fmt::format("          {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter),
                      IsByK(side) ? row : along);
  text += fmt::format("          {} = {} * 64 + {};\n", Typed(found_.k.counter), next, IsByK(side) ? along : row);
  text += Statements(Needed({side.load}), "          ", {});
  const bool address = tree_.node(side.load).type.ends_with('*');
  const std::string from = (address ? "" : "&") + std::string(tree_.Text(side.load));
  const std::string bound = Parenthesised(tree_, side.index.bound), bound_k = Parenthesised(tree_, found_.k.bound);
  text += fmt::format("          const bool {} = {} < {} && {} < {};\n", Fresh("inside"), index.name, bound, k.name, bound_k);
  const std::string place = IsByK(side)
                                ? fmt::format("{}({}, {})", Block(kSwizzled.name), row, vector)
                                : fmt::format("{1} / 8 * 4096 + {2}({0}, {1} % 8)", row, vector, Block(kSwizzled.name));
  text += fmt::format("          {}(&{}[{} % {}][{}], {},\n            {} ? {} - {} : 0);\n", Block(kCopyVector.name),
                      Fresh("tile_" + side.letter), next, names_.stages, place, from, Fresh("inside"),
                      IsByK(side) ? bound_k : bound, IsByK(side) ? k.name : index.name);
  return text + "        }\n";
}

// What the last group does. It is two tiles behind with what it overwrites: one is being multiplied, one is the next.
std::string WarpGroupWriter::Bringing() const {
  const std::string next = Fresh("next"), steps = Fresh("steps");
  std::string text = fmt::format("  if (threadIdx.x >= {} * 2) {{\n", names_.tile_m);
  text += fmt::format("    for (int {0} = 0; {0} < {1} + {2} - 2; ++{0}) {{\n", next, steps, names_.stages);
  text += fmt::format("      if ({} >= {} - 2) {{\n", next, names_.stages);
  text += fmt::format("        __pipeline_wait_prior({} - 3);\n        {}();\n        __syncthreads();\n      }}\n", names_.stages,
                      Block(kShowTensorCores.name));
  text += fmt::format("      if ({} < {}) {{\n", next, steps) + Copies(m_) + Copies(n_);
  return text + "      }\n      __pipeline_commit();\n    }\n    __syncthreads();\n    return;\n  }\n";
}

// The descriptor of a group's part of a side's tile, from part_k on.
std::string WarpGroupWriter::Described(const Side& side) const {
  const std::string part = Fresh("part_k");
  return fmt::format("{}(&{}[{}][{}{}{}], {})", Block(kDescribe.name), Fresh("tile_" + side.letter), Fresh("slot"),
                     side.letter == "m" ? Fresh("group") + " * 4096 + " : "", part, IsByK(side) ? "" : " * 64",
                     IsByK(side) ? 16 : 8192);
}

std::string WarpGroupWriter::Products() const {
  const std::string step = Fresh("step"), steps = Fresh("steps"), part = Fresh("part_k"), sums = Fresh("sums");
  std::string text = "  // The shuffle tells the compiler that the number is the same for a warp.\n";
  text += fmt::format("  const int {} = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);\n", Fresh("group"));
  text += fmt::format("  float {}[{} / 2];\n", sums, names_.tile_n);
  text += fmt::format("  for (int {0} = 0; {0} < {1}; ++{0}) {{\n    __syncthreads();\n", step, steps);
  text += fmt::format("    const int {} = {} % {};\n    {}();\n", Fresh("slot"), step, names_.stages, Block(kBeginProducts.name));
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < 64; {0} += 16)\n", part);
  text += fmt::format("      {}({}, {},\n        {}, {} > 0 || {} > 0);\n", Block(kProduct), sums, Described(m_), Described(n_), step, part);
  text += fmt::format("    {}();\n  }}\n  {}({});\n", Block(kCommitProducts.name), Block(kFinishProducts.name), sums);
  const std::string i = Fresh("e");
  return text + fmt::format("  if ({0} <= 0) {{\n#pragma unroll\n    for (int {1} = 0; {1} < {2} / 2; ++{1}) {3}[{1}] = 0.0f;\n  }}\n", steps, i,
                            names_.tile_n, sums);
}

// What follows the sum, 16 rows of a warp.
std::string WarpGroupWriter::Stores() const {
  const std::string t = Fresh("t"), own = Fresh("own"), row = Fresh("kRow"), lane = Fresh("lane"), e = Fresh("e");
  const std::string warp = Fresh("warp"), part = Fresh("part_n");
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text =
      "  // The sums go through shared memory, so that neighbouring threads store neighbouring elements.\n  __syncthreads();\n";
  text += fmt::format("  constexpr int {} = {} + 8;\n", row, names_.tile_n);
  text += fmt::format("  const int {} = threadIdx.x / 32, {} = threadIdx.x % 32;\n", warp, lane);
  text += fmt::format("  float* {} = reinterpret_cast<float*>({}) + {} * 16 * {};\n", own, UnusedName(tree_.text(), "tiles"), warp,
                      row);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1} / 8; ++{0}) {{\n", part, names_.tile_n);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < 4; ++{0}) {{\n", e);
  text += fmt::format("      {0}[({1} / 4 + {2} / 2 * 8) * {3} + {4} * 8 + {1} % 4 * 2 + {2} % 2] = {5}[{4} * 4 + {2}];\n", own,
                      lane, e, row, part, Fresh("sums"));
  text += "    }\n  }\n  __syncwarp();\n";
  text += fmt::format("#pragma unroll 4\n  for (int {0} = {1}; {0} < 16 * {2}; {0} += 32) {{\n", t, lane, names_.tile_n);
  text += fmt::format("    {} = {} + {} * 16 + {} / {};\n", Typed(m_.index.declaration), Fresh("first_m"), warp, t, names_.tile_n);
  text += fmt::format("    {} = {} + {} % {};\n", Typed(n_.index.declaration), Fresh("first_n"), t, names_.tile_n);
  text += fmt::format("    if ({} >= {} || {} >= {}) continue;\n", name(m_.index.declaration), tree_.Text(m_.index.bound),
                      name(n_.index.declaration), tree_.Text(n_.index.bound));
  text += fmt::format("    float {0} = {1}[{2} / {3} * {4} + {2} % {3}];\n", name(found_.accumulator), own, t, names_.tile_n, row);
  return text + Epilogue(name(found_.accumulator), "    ") + "  }\n";
}

std::string WarpGroupWriter::Body() const {
  return Finished("{\n" + Constants() + Bringing() + Products() + Stores() + "}");
}

}  // namespace evo
