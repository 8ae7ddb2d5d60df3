#include "mutators/parallelism/products/tensor_writer.h"

#include <fmt/format.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

TensorWriter::TensorWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                           TensorParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      operands_(std::move(operands)),
      names_(std::move(parameters)),
      sums_(Fresh("sums")),
      m_{found_.a, found_.m, operands_.a, names_.tile_m, "m", Counter("i", "u")},
      n_{found_.b, found_.n, operands_.b, names_.tile_n, "n", Counter("j", "v")} {}

std::string TensorWriter::Block(const DeviceBlock& block) const { return UnusedName(tree_.text(), std::string(block.name)); }

std::string TensorWriter::Blocks() const {
  std::string text;
  for (const DeviceBlock* block : Used()) text += BlockText(*block, operands_.type, Block(*block));
  return text;
}

std::vector<const DeviceBlock*> TensorWriter::Used() const {
  std::vector<const DeviceBlock*> used{&kCopyVector};
  if (IsByK(m_) || IsByK(n_)) used.push_back(&kLoadMatrices);
  if (!IsByK(m_) || !IsByK(n_)) used.push_back(&kLoadTransposed);
  used.push_back(IsTensorByte(operands_.type) ? &kMultiplyAddBytes : &kMultiplyAdd);
  return used;
}

// Rows of 16 bytes are read together, eight of them.
int TensorWriter::Padding(const Side& /*side*/) const { return VectorElements(operands_.type); }

// Of a side's tile in shared memory: the inner index is the one that neighbouring elements of the buffer go along.
std::string TensorWriter::Rows(const Side& side) const { return IsByK(side) ? side.size : names_.tile_k; }
std::string TensorWriter::Columns(const Side& side) const { return IsByK(side) ? names_.tile_k : side.size; }

std::string TensorWriter::RingBytes() const {
  const auto elements = [&](const Side& side) { return fmt::format("{} * ({} + {})", Rows(side), Columns(side), Padding(side)); };
  const int bytes = 16 / VectorElements(operands_.type);
  return fmt::format("{} * ({} + {}){}", names_.stages, elements(m_), elements(n_), bytes > 1 ? fmt::format(" * {}", bytes) : "");
}

std::string TensorWriter::SumBytes() const {
  return fmt::format("{} * ({} + {} * 8) * 64", names_.warps_m, names_.tile_n, names_.warps_n);
}

std::string TensorWriter::Element(const Side& side, const std::string& output, const std::string& k) const {
  return fmt::format("{}[{}][{}][{}]", Fresh("tile_" + side.letter), Fresh("slot"), IsByK(side) ? output : k,
                     IsByK(side) ? k : output);
}

std::string TensorWriter::Constants() const {
  const auto& [tile_m, tile_n, tile_k, warps_m, warps_n, stages] = names_;
  const std::string warp = Fresh("warp"), lane = Fresh("lane"), memory = UnusedName(tree_.text(), "tiles");
  const bool same = Padding(m_) == Padding(n_) && Padding(m_) >= 8;
  std::string text = fmt::format(
      "  // A warp computes kWarpM x kWarpN elements on tensor cores. {} tiles are in shared memory or on their way there; "
      "{}\n"
      "  // more elements in a row keep {} together in different banks.\n",
      stages,
      !same              ? "a few"
      : Padding(m_) == 8 ? "eight"
                         : "sixteen",
      same ? "the rows that are read" : "what is read");
  text += fmt::format("  constexpr int {} = {} * {} * 32;\n", Fresh("kThreads"), warps_m, warps_n);
  text += fmt::format("  constexpr int {} = {} / {}, {} = {} / {};\n", Fresh("kWarpM"), tile_m, warps_m, Fresh("kWarpN"), tile_n,
                      warps_n);
  text += fmt::format("  extern __shared__ __align__(16) unsigned char {}[];\n", memory);
  std::string from = memory;
  for (const Side& side : {m_, n_}) {
    const std::string tile = Fresh("tile_" + side.letter);
    text += fmt::format("  {0} (*{1})[{2}][{3} + {5}] = reinterpret_cast<{0} (*)[{2}][{3} + {5}]>({4});\n",
                        ElementName(operands_.type), tile, Rows(side), Columns(side), from, Padding(side));
    from = fmt::format("{} + {}", tile, stages);
  }
  text += fmt::format("  const int {} = threadIdx.x / 32, {} = threadIdx.x % 32;\n", warp, lane);
  text += fmt::format("  const int {} = {} / {} * {};\n", Fresh("own_m"), warp, warps_n, Fresh("kWarpM"));
  text += fmt::format("  const int {} = {} % {} * {};\n", Fresh("own_n"), warp, warps_n, Fresh("kWarpN"));
  return text + First(m_.index, m_.letter, m_.size) + First(n_.index, n_.letter, n_.size);
}

// The loop that brings a side's part of a tile, 16 bytes at a time.
std::string TensorWriter::Staged(const Side& side) const {
  const std::string t = Fresh("t"), next = Fresh("next");
  const int elements = VectorElements(operands_.type);
  const std::string vectors = fmt::format("({} / {})", Columns(side), elements);
  const std::string row = fmt::format("{} / {}", t, vectors), column = fmt::format("{} % {} * {}", t, vectors, elements);
  const SyntaxNode& index = tree_.node(side.index.declaration);
  const SyntaxNode& k = tree_.node(found_.k.counter);
  const std::string round = Fresh("round"), threads = Fresh("kThreads");
  std::string text = fmt::format("#pragma unroll 4\n      for (int {0} = 0; {0} < {1} * {2} / {3} / {4}; ++{0}) {{\n", round,
                                 side.size, names_.tile_k, elements, threads);
  text += fmt::format("        const int {} = {} * {} + threadIdx.x;\n", t, round, threads);
  text += fmt::format("        {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter),
                      IsByK(side) ? row : column);
  text += fmt::format("        {} = {} * {} + {};\n", Typed(found_.k.counter), next, names_.tile_k, IsByK(side) ? column : row);
  text += Statements(Needed({side.load}), "        ", {});
  const bool address = tree_.node(side.load).type.ends_with('*');
  const std::string from = (address ? "" : "&") + std::string(tree_.Text(side.load));
  const std::string bound = Parenthesised(tree_, side.index.bound), bound_k = Parenthesised(tree_, found_.k.bound);
  text += fmt::format("        const bool {} = {} < {} && {} < {};\n", Fresh("inside"), index.name, bound, k.name, bound_k);
  text += fmt::format("        {}(&{}[{} % {}][{}][{}], {}, {} ? {} - {} : 0);\n", Block(kCopyVector),
                      Fresh("tile_" + side.letter), next, names_.stages, row, column, from, Fresh("inside"),
                      IsByK(side) ? bound_k : bound, IsByK(side) ? k.name : index.name);
  return text + "      }\n";
}

// The loop that loads a side's parts of 16 rows or columns and 32 bytes. The order of the lanes' rows is the one in which the
// product has its operands: of a the rows first, of b the columns of k.
std::string TensorWriter::Parts(const Side& side) const {
  const std::string lane = Fresh("lane"), part = Fresh("part_k");
  const int elements = VectorElements(operands_.type);
  const std::string by_16 = fmt::format("{0} % 16", lane), rest = fmt::format("{} / 16 * {}", lane, elements);
  const std::string halves = fmt::format("{0} / 16 * 8 + {0} % 8", lane), inner = fmt::format("{} / 8 % 2 * {}", lane, elements);
  const bool straight = IsByK(side) == (side.letter == "m");
  const std::string of_row = straight ? by_16 : halves, of_column = straight ? rest : inner;
  const std::string output = fmt::format("{} + {} * 16", Fresh("own_" + side.letter), side.counter);
  return fmt::format(
      "#pragma unroll\n      for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n"
      "        {2}({3}[{0}], &{4}[{5}][{6} + {7}][{8} + {9}]);\n      }}\n",
      side.counter, Fresh(side.letter == "m" ? "kWarpM" : "kWarpN"), Block(IsByK(side) ? kLoadMatrices : kLoadTransposed),
      Fresh("part_" + side.letter), Fresh("tile_" + side.letter), Fresh("slot"), IsByK(side) ? output : part, of_row,
      IsByK(side) ? part : output, of_column);
}

std::string TensorWriter::Products() const {
  const std::string part = Fresh("part_k"), part_m = Fresh("part_m"), part_n = Fresh("part_n");
  std::string text = fmt::format("    const int {} = {} % {};\n", Fresh("slot"), Fresh("step"), names_.stages);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; {0} += {2}) {{\n", part, names_.tile_k,
                      2 * VectorElements(operands_.type));
  text += fmt::format("      unsigned {}[{} / 16][4], {}[{} / 16][4];\n", part_m, Fresh("kWarpM"), part_n, Fresh("kWarpN"));
  text += Parts(m_) + Parts(n_);
  const std::string &i = m_.counter, &j = n_.counter;
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", i, Fresh("kWarpM"));
  text += fmt::format("#pragma unroll\n        for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", j, Fresh("kWarpN"));
  for (const int half : {0, 1}) {
    text += fmt::format("          {0}({1}[{2}][2 * {3}{4}], {5}[{2}], {6}[{3}][{7}], {6}[{3}][{8}]);\n", Block(kMultiplyAdd),
                        sums_, i, j, half == 0 ? "" : " + 1", part_m, part_n, 2 * half, 2 * half + 1);
  }
  return text + "        }\n      }\n    }\n";
}

std::string TensorWriter::SumType() const { return IsTensorByte(operands_.type) ? "int" : "float"; }

std::string TensorWriter::Sum(const std::string& value) const {
  return fmt::format("      {} {} = {};\n", SumType(), tree_.node(found_.accumulator).name, value);
}

// What follows the sum, 16 rows of a warp at a time.
std::string TensorWriter::Stores() const {
  const std::string t = Fresh("t"), own = Fresh("own"), row = Fresh("kRow"), lane = Fresh("lane"), e = Fresh("e");
  const std::string kWarpN = Fresh("kWarpN");
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text =
      "  // The sums go through shared memory, so that neighbouring threads store neighbouring elements.\n  __syncthreads();\n";
  text += fmt::format("  constexpr int {} = {} + 8;\n", row, kWarpN);
  text += fmt::format("  {0}* {1} = reinterpret_cast<{0}*>({2}) + {3} * 16 * {4};\n", SumType(), own,
                      UnusedName(tree_.text(), "tiles"), Fresh("warp"), row);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", m_.counter, Fresh("kWarpM"));
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1} / 8; ++{0}) {{\n", n_.counter, kWarpN);
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < 4; ++{0}) {{\n", e);
  text += fmt::format("        {0}[({1} / 4 + {2} / 2 * 8) * {3} + {4} * 8 + {1} % 4 * 2 + {2} % 2] = {5}[{6}][{4}][{2}];\n", own,
                      lane, e, row, n_.counter, sums_, m_.counter);
  text += "      }\n    }\n    __syncwarp();\n";
  text += fmt::format("#pragma unroll 4\n    for (int {0} = {1}; {0} < 16 * {2}; {0} += 32) {{\n", t, lane, kWarpN);
  text += fmt::format("      {} = {} + {} + {} * 16 + {} / {};\n", Typed(m_.index.declaration), Fresh("first_m"), Fresh("own_m"),
                      m_.counter, t, kWarpN);
  text +=
      fmt::format("      {} = {} + {} + {} % {};\n", Typed(n_.index.declaration), Fresh("first_n"), Fresh("own_n"), t, kWarpN);
  text += fmt::format("      if ({} >= {} || {} >= {}) continue;\n", name(m_.index.declaration), tree_.Text(m_.index.bound),
                      name(n_.index.declaration), tree_.Text(n_.index.bound));
  text += Sum(fmt::format("{0}[{1} / {2} * {3} + {1} % {2}]", own, t, kWarpN, row));
  text += Epilogue(name(found_.accumulator), "      ");
  return text + "    }\n    __syncwarp();\n  }\n";
}

std::string TensorWriter::Body() const {
  const std::string step = Fresh("step"), steps = Fresh("steps"), next = Fresh("next");
  std::string text = "{\n" + Constants() + Common("  ");
  text += fmt::format("  {} {}[{} / 16][{} / 8][4] = {{}};\n", SumType(), sums_, Fresh("kWarpM"), Fresh("kWarpN"));
  text += fmt::format("  const int {} = ({} + {} - 1) / {};\n", steps, Parenthesised(tree_, found_.k.bound), names_.tile_k,
                      names_.tile_k);
  text += fmt::format("  for (int {0} = 1 - {1}; {0} < {2}; ++{0}) {{\n", step, names_.stages, steps);
  text += fmt::format("    if ({} >= 0) {{\n      __pipeline_wait_prior({} - 2);\n      __syncthreads();\n    }}\n", step,
                      names_.stages);
  text += fmt::format("    const int {} = {} + {} - 1;\n    if ({} < {}) {{\n", next, step, names_.stages, next, steps);
  text += Staged(m_) + Staged(n_) + "    }\n    __pipeline_commit();\n";
  text += fmt::format("    if ({} < 0) continue;\n", step) + Products() + "  }\n";
  return Finished(text + Stores() + "}");
}

std::unique_ptr<TensorWriter> MakeTensorWriter(const MutationContext& context, const Contraction& contraction,
                                               const TensorOperands& operands, const TensorParameters& parameters) {
  if (IsTensorElement(operands.type) || IsTensorByte(operands.type))
    return std::make_unique<TensorWriter>(context, contraction, operands, parameters);
  return std::make_unique<SplitTensorWriter>(context, contraction, operands, parameters);
}

}  // namespace evo
