#include "mutators/parallelism/products/warp_group_writer.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/products/group_products.h"

namespace evo {
namespace {

constexpr std::string_view kProduct = "MultiplyGroup";
constexpr std::string_view kCopyPanels = "CopyPanels";

}  // namespace

WarpGroupWriter::WarpGroupWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                                 WarpGroupParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      operands_(std::move(operands)),
      names_(std::move(parameters)),
      vector_(VectorElements(operands_.type)),
      depth_(8 * vector_),
      m_{found_.a, found_.m, operands_.a, ElementName(operands_.type), names_.tile_m, "m"},
      n_{found_.b, found_.n, operands_.b, ElementName(operands_.type_b), names_.tile_n, "n"} {}

// The name of a building block in this source.
std::string WarpGroupWriter::Block(std::string_view name) const { return UnusedName(tree_.text(), std::string(name)); }

std::string WarpGroupWriter::Blocks() const {
  std::string text;
  const auto add = [&](const DeviceBlock& block) { text += BlockText(block, operands_.type, Block(block.name)); };
  for (const DeviceBlock* block : {&kBelow, &kSwizzled}) add(*block);
  for (const std::string& type : std::set{operands_.type, operands_.type_b}) {
    for (const DeviceBlock* block : {&kCopyVector, &kStartCopy}) text += BlockText(*block, type, Block(block->name));
    text += CopyPanelsText(type, Block(kCopyPanels), Block(kStartCopy.name), Block(kCopyVector.name));
  }
  for (const DeviceBlock* block : {&kDescribe, &kShowTensorCores, &kBeginProducts, &kCommitProducts, &kFinishProducts})
    add(*block);
  for (const int columns : {128, 256})
    text += GroupProductText(operands_.type, operands_.type_b, Block(kProduct), columns, OrderOf(IsByK(m_)), OrderOf(IsByK(n_)));
  return text;
}

std::string WarpGroupWriter::Threads() const { return fmt::format("{} / {} * 128", names_.tile_m, names_.group_rows); }

std::string WarpGroupWriter::ThreadSums() const { return fmt::format("{} / 64 * {} / 2", names_.group_rows, names_.tile_n); }

std::string WarpGroupWriter::RingBytes() const {
  return fmt::format("{} * ({} + {}) * 128", names_.stages, names_.tile_m, names_.tile_n);
}

std::string WarpGroupWriter::SumBytes() const { return fmt::format("{} / 2 * ({} + 8) * 4", Threads(), names_.tile_n); }

std::string WarpGroupWriter::Constants() const {
  const std::string memory = UnusedName(tree_.text(), "tiles");
  std::string text = fmt::format(
      "  // Each warp group computes {} x {} elements on tensor cores. Tiles are {} of k deep; {} of them are in shared memory\n"
      "  // or on their way there.\n",
      names_.group_rows, names_.tile_n, depth_, names_.stages);
  text += fmt::format("  extern __shared__ __align__(1024) unsigned char {}[];\n", memory);
  std::string from = memory;
  for (const Side& side : {m_, n_}) {
    const std::string tile = Fresh("tile_" + side.letter);
    text += fmt::format("  {0} (*{1})[{2} * {4}] = reinterpret_cast<{0} (*)[{2} * {4}]>({3});\n", side.element, tile, side.size,
                        from, depth_);
    from = fmt::format("{} + {}", tile, names_.stages);
  }
  text += First(m_.index, m_.letter, m_.size) + First(n_.index, n_.letter, n_.size) + Common("  ");
  return text + fmt::format("  const int {} = ({} + {}) / {};\n", Fresh("steps"), Parenthesised(tree_, found_.k.bound),
                            depth_ - 1, depth_);
}

// Where a thread's first vector of a side lies, and how far it is to the next line. Indices are linear, so that two addresses say
// where all others are.
std::string WarpGroupWriter::Address(const Side& side) const {
  const std::string at = Fresh("at_" + side.letter), from = Fresh("from_" + side.letter), pitch = Fresh("pitch_" + side.letter);
  const std::string line = Fresh("line"), vector = Fresh("vector"), down = Fresh("down"), along = Fresh("along");
  std::string text = fmt::format("  const auto {} = [&](int {}, int {}) {{\n", at, down, along);
  text += fmt::format("    {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter),
                      IsByK(side) ? down : along);
  text += fmt::format("    {} = {};\n", Typed(found_.k.counter), IsByK(side) ? along : down);
  text += Statements(Needed({side.load}), "    ", {});
  const bool address = tree_.node(side.load).type.ends_with('*');
  text += fmt::format("    return {}{};\n  }};\n", address ? "" : "&", tree_.Text(side.load));
  text += fmt::format("  const {}* {} = {}({}, {} * {});\n", side.element, from, at, line, vector, vector_);
  text += fmt::format("  const long long {} = {}({} + 1, {} * {}) - {};\n", pitch, at, line, vector, vector_, from);
  text += fmt::format("  const bool {} = reinterpret_cast<size_t>({}) % 16 == 0 && {} % {} == 0;\n",
                      Fresh("aligned_" + side.letter), from, pitch, vector_);
  return text + fmt::format("  const int {} = {}({}, {}, {}) - {};\n", Fresh("left_" + side.letter), Block(kBelow.name),
                            tree_.Text(side.index.bound), Fresh("first_" + side.letter), side.size,
                            IsByK(side) ? line : fmt::format("{} * {}", vector, vector_));
}

// The call that brings a side's part of a tile, and the way to the next one.
std::string WarpGroupWriter::Copy(const Side& side) const {
  const std::string from = Fresh("from_" + side.letter), pitch = Fresh("pitch_" + side.letter), left_k = Fresh("left_k");
  const std::string left = Fresh("left_" + side.letter), line = Fresh("line"), vector = Fresh("vector");
  const std::string lines = IsByK(side) ? left : fmt::format("{} - {}", left_k, line);
  const std::string count = IsByK(side) ? fmt::format("{} - {} * {}", left_k, vector, vector_) : left;
  std::string text = fmt::format("      {}<{} / 64, {} / {}, {}>(\n", Block(kCopyPanels), side.size, names_.tile_m,
                                 names_.group_rows, IsByK(side) ? "true" : "false");
  text += fmt::format("        &{}[{} % {}][{}({}, {})], {}, {}, {}, {}, {}, {});\n", Fresh("tile_" + side.letter), Fresh("next"),
                      names_.stages, Block(kSwizzled.name), line, vector, from, pitch, Fresh("aligned_" + side.letter), lines,
                      count, Fresh("group"));
  return text + fmt::format("      {} += {}{};\n", from, depth_, IsByK(side) ? "" : " * " + pitch);
}

// Which threads bring what, and the function that starts to bring a tile.
std::string WarpGroupWriter::Bringing() const {
  const std::string next = Fresh("next"), group = Fresh("group");
  std::string text = "  // The shuffle tells the compiler that the number is the same for a warp.\n";
  text += fmt::format("  const int {} = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);\n", group);
  text += fmt::format("  const int {} = {} * {};\n", Fresh("own_m"), group, names_.group_rows);
  text += fmt::format("  const int {} = threadIdx.x % 128 / 8, {} = threadIdx.x % 8;\n", Fresh("line"), Fresh("vector"));
  text += Address(m_) + Address(n_);
  text += fmt::format("  const auto {} = [&](int {}) {{\n", Fresh("bring"), next);
  text += fmt::format("    if ({} < {}) {{\n", next, Fresh("steps"));
  text += fmt::format("      const int {} = {}({}, {} * {}, {});\n", Fresh("left_k"), Block(kBelow.name),
                      tree_.Text(found_.k.bound), next, depth_, depth_);
  return text + Copy(m_) + Copy(n_) + "    }\n    __pipeline_commit();\n  };\n";
}

// The descriptor of a group's part of a side's tile, from part_k on.
std::string WarpGroupWriter::Described(const Side& side) const {
  const std::string own = side.letter == "m" ? fmt::format("({} + {}) * {} + ", Fresh("own_m"), Fresh("part_m"), depth_) : "";
  return fmt::format("{}(&{}[{}][{}{}{}], {})", Block(kDescribe.name), Fresh("tile_" + side.letter), Fresh("slot"), own,
                     Fresh("part_k"), IsByK(side) ? "" : " * 64", IsByK(side) ? 16 : 8192);
}

std::string WarpGroupWriter::Products() const {
  const std::string step = Fresh("step"), steps = Fresh("steps"), part = Fresh("part_k"), sums = Fresh("sums");
  const std::string rows = Fresh("part_m"), e = Fresh("e"), &group_rows = names_.group_rows;
  const std::string next = Fresh("next"), bring = Fresh("bring");
  const std::string sum = SumName(operands_.type);
  std::string text = fmt::format("  {} {}[{} / 64][{} / 2];\n", sum, sums, group_rows, names_.tile_n);
  text += fmt::format("  for (int {0} = 0; {0} < {1} - 2; ++{0}) {2}({0});\n", next, names_.stages, bring);
  text += fmt::format("  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", step, steps);
  text += fmt::format("    __pipeline_wait_prior({} - 3);\n    {}();\n    __syncthreads();\n", names_.stages,
                      Block(kShowTensorCores.name));
  text += "    // One tile is still being multiplied, and this one is next: the one before them is overwritten.\n";
  text += fmt::format("    {}({} + {} - 2);\n", bring, step, names_.stages);
  text += fmt::format("    const int {} = {} % {};\n    {}();\n", Fresh("slot"), step, names_.stages, Block(kBeginProducts.name));
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; {0} += {2}) {{\n", part, depth_, 2 * vector_);
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1}; {0} += 64) {{\n", rows, group_rows);
  text += fmt::format("        {}({}[{} / 64], {},\n          {}, {} > 0 || {} > 0);\n      }}\n    }}\n", Block(kProduct), sums,
                      rows, Described(m_), Described(n_), step, part);
  text += fmt::format("    {}();\n  }}\n", Block(kCommitProducts.name));
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; {0} += 64) {{\n", rows, group_rows);
  text += fmt::format("    {}({}[{} / 64]);\n", Block(kFinishProducts.name), sums, rows);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {1} <= 0 && {0} < {2} / 2; ++{0}) {3}[{4} / 64][{0}] = {5};\n  }}\n",
                      e, steps, names_.tile_n, sums, rows, sum == "float" ? "0.0f" : "0");
  return text;
}

// What follows the sum, 16 rows of a warp at a time.
std::string WarpGroupWriter::Stores() const {
  const std::string t = Fresh("t"), own = Fresh("own"), row = Fresh("kRow"), lane = Fresh("lane"), e = Fresh("e");
  const std::string warp = Fresh("warp"), part = Fresh("part_n"), rows = Fresh("part_m");
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text =
      "  // The sums go through shared memory, so that neighbouring threads store neighbouring elements.\n  __syncthreads();\n";
  text += fmt::format("  constexpr int {} = {} + 8;\n", row, names_.tile_n);
  text += fmt::format("  const int {} = threadIdx.x / 32, {} = threadIdx.x % 32;\n", warp, lane);
  const std::string sum = SumName(operands_.type);
  text += fmt::format("  {0}* {1} = reinterpret_cast<{0}*>({2}) + {3} * 16 * {4};\n", sum, own, UnusedName(tree_.text(), "tiles"),
                      warp, row);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; {0} += 64) {{\n", rows, names_.group_rows);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1} / 8; ++{0}) {{\n", part, names_.tile_n);
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < 4; ++{0}) {{\n", e);
  text += fmt::format(
      "        {0}[({1} / 4 + {2} / 2 * 8) * {3} + {4} * 8 + {1} % 4 * 2 + {2} % 2] = {5}[{6} / 64][{4} * 4 + {2}];\n", own, lane,
      e, row, part, Fresh("sums"), rows);
  text += "      }\n    }\n    __syncwarp();\n";
  text += fmt::format("#pragma unroll 4\n    for (int {0} = {1}; {0} < 16 * {2}; {0} += 32) {{\n", t, lane, names_.tile_n);
  text += fmt::format("      {} = {} + {} + {} + {} % 4 * 16 + {} / {};\n", Typed(m_.index.declaration), Fresh("first_m"),
                      Fresh("own_m"), rows, warp, t, names_.tile_n);
  text += fmt::format("      {} = {} + {} % {};\n", Typed(n_.index.declaration), Fresh("first_n"), t, names_.tile_n);
  text += fmt::format("      if ({} >= {} || {} >= {}) continue;\n", name(m_.index.declaration), tree_.Text(m_.index.bound),
                      name(n_.index.declaration), tree_.Text(n_.index.bound));
  text += fmt::format("      {5} {0} = {1}[{2} / {3} * {4} + {2} % {3}];\n", name(found_.accumulator), own, t, names_.tile_n, row,
                      sum);
  return text + Epilogue(name(found_.accumulator), "      ") + "    }\n    __syncwarp();\n  }\n";
}

std::string WarpGroupWriter::Body() const { return Finished("{\n" + Constants() + Bringing() + Products() + Stores() + "}"); }

}  // namespace evo
