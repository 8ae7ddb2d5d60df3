#include "mutators/parallelism/products/tile_ring_writer.h"

#include <fmt/format.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

TileRingWriter::TileRingWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                               TileRingParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      operands_(std::move(operands)),
      names_(std::move(parameters)),
      m_{found_.a, found_.m, operands_.a, names_.tile_m, names_.thread_m, "m", Counter("i", "u")},
      n_{found_.b, found_.n, operands_.b, names_.tile_n, names_.thread_n, "n", Counter("j", "v")} {}

std::string TileRingWriter::Threads() const {
  return fmt::format("{} / {} * ({} / {})", names_.tile_m, names_.thread_m, names_.tile_n, names_.thread_n);
}

// Its sums, two sets of parts, one for each of its copies of a tile, and 26 for counters and other addresses.
std::string TileRingWriter::Registers() const {
  const auto rows = [&](const Side& side) { return IsByK(side) ? side.size : side.size + " / 4"; };
  return fmt::format("({0} + 2) * ({1} + 2) + 22 + ({2} + {3}) * {4} / ({5})", names_.thread_m, names_.thread_n, rows(m_),
                     rows(n_), names_.tile_k, Threads());
}

std::string TileRingWriter::RingBytes() const {
  return fmt::format("{} * {} * ({} + {} + 8) * 4", names_.stages, names_.tile_k, names_.tile_m, names_.tile_n);
}

std::string TileRingWriter::SumBytes() const {
  return fmt::format("{} / {} * ({} + {} / (32 / {} * {}) * 4) * 4", names_.tile_m, names_.thread_m, names_.tile_n, names_.tile_n,
                     names_.lanes_m, names_.thread_n);
}

std::string TileRingWriter::Line(const Side& side) const {
  return IsByK(side) ? names_.tile_k : fmt::format("({} / 4)", side.size);
}

std::string TileRingWriter::SharesOut(bool of_m) const {
  const Side& side = of_m ? m_ : n_;
  return fmt::format("({0}) % {1} == 0 && {2} * {3}{4} % ({0}) == 0", Threads(), Line(side), side.size, names_.tile_k,
                     IsByK(side) ? "" : " / 4");
}

std::string TileRingWriter::Constants() const {
  const auto& [tile_m, tile_n, tile_k, thread_m, thread_n, lanes_m, stages, blocks, unrolled] = names_;
  const std::string warp = Fresh("warp"), lane = Fresh("lane"), memory = UnusedName(tree_.text(), "tiles");
  const std::string kLanesN = Fresh("kLanesN"), kWarpM = Fresh("kWarpM"), kWarpN = Fresh("kWarpN");
  std::string text = fmt::format(
      "  // A warp computes kWarpM x kWarpN elements, and a thread {} x {} of them, in groups of 4 that lie side by side.\n"
      "  // {} tiles are in shared memory or on their way there.\n",
      thread_m, thread_n, stages);
  text += fmt::format("  constexpr int {} = {}, {} = 32 / {};\n", Fresh("kThreads"), Threads(), kLanesN, lanes_m);
  text += fmt::format("  constexpr int {} = {} * {}, {} = {} * {};\n", kWarpM, lanes_m, thread_m, kWarpN, kLanesN, thread_n);
  text += fmt::format("  extern __shared__ __align__(16) unsigned char {}[];\n", memory);
  std::string from = memory;
  for (const Side& side : {m_, n_}) {
    const std::string tile = Name("tile_", side);
    text += fmt::format("  float (*{0})[{1}][{2} + 4] = reinterpret_cast<float (*)[{1}][{2} + 4]>({3});\n", tile, tile_k,
                        side.size, from);
    from = fmt::format("{} + {}", tile, stages);
  }
  text += fmt::format("  const int {} = threadIdx.x / 32, {} = threadIdx.x % 32;\n", warp, lane);
  text += "  // Of four neighbouring lanes two and two read the same, of either factor: they share an access to shared memory.\n";
  text += fmt::format("  const int {0} = {1} / (2 * {2}) * 2 + {1} % 2, {3} = {1} / 2 % {2};\n", Fresh("lane_m"), lane, kLanesN,
                      Fresh("lane_n"));
  text += fmt::format("  const int {} = {} / ({} / {}) * {}, {} = {} % ({} / {}) * {};\n", Fresh("own_m"), warp, tile_n, kWarpN,
                      kWarpM, Fresh("own_n"), warp, tile_n, kWarpN, kWarpN);
  return text + First(m_.index, m_.letter, m_.size) + First(n_.index, n_.letter, n_.size);
}

// Where a thread's first copy of a side comes from and goes to, and how far it is to its next one and to the next tile. Indices
// are linear, so that two addresses say where all others are.
std::string TileRingWriter::Address(const Side& side) const {
  const std::string at = Name("at_", side), from = Name("from_", side), output = Fresh("output"), reduced = Fresh("reduced");
  const std::string to = Name("to_", side), k = Name("k_", side), line = Line(side),
                    lines = Fresh(side.letter == "m" ? "kLinesM" : "kLinesN");
  std::string text = fmt::format("  const auto {} = [&](int {}, int {}) {{\n", at, output, reduced);
  text += fmt::format("    {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter), output);
  text += fmt::format("    {} = {};\n", Typed(found_.k.counter), reduced);
  text += Statements(Needed({side.load}), "    ", {});
  const bool address = tree_.node(side.load).type.ends_with('*');
  text += fmt::format("    return {}{};\n  }};\n", address ? "" : "&", tree_.Text(side.load));
  const std::string along = fmt::format("threadIdx.x % {}", line), across = fmt::format("threadIdx.x / {}", line);
  text += fmt::format("  constexpr int {} = {} / {};\n", lines, Fresh("kThreads"), line);
  text += IsByK(side) ? fmt::format("  const int {} = {}, {} = {};\n", to, across, k, along)
                      : fmt::format("  const int {} = {} * 4, {} = {};\n", to, along, k, across);
  text += fmt::format("  const float* {} = {}({}, {});\n", from, at, to, k);
  const std::string next = IsByK(side) ? fmt::format("{} + {}, {}", to, lines, k) : fmt::format("{}, {} + {}", to, k, lines);
  text += fmt::format("  const long long {} = {}({}) - {}, {} = {}({}, {} + {}) - {};\n", Name("step_", side), at, next, from,
                      Name("next_", side), at, to, k, names_.tile_k, from);
  return text;
}

// Whether a block's tile lies within the output, and copies of 16 bytes are allowed where there are any.
std::string TileRingWriter::Whole() const {
  std::string text = fmt::format("  const bool {} = ", Fresh("whole"));
  for (const Side& side : {m_, n_}) {
    const std::string from = Name("from_", side), to = Name("to_", side), k = Name("k_", side);
    text += fmt::format("{}{} + {} <= {}", side.letter == "m" ? "" : " &&\n    ", Name("first_", side), side.size,
                        Parenthesised(tree_, side.index.bound));
    if (!IsByK(side))
      text += fmt::format(" && reinterpret_cast<size_t>({0}) % 16 == 0 && ({1}({2}, {3} + 1) - {0}) % 4 == 0", from,
                          Name("at_", side), to, k);
  }
  return text + ";\n";
}

// The loop that starts a thread's copies of a side's tile.
std::string TileRingWriter::Copies(const Side& side) const {
  const std::string round = Fresh("round"), at = Fresh("at"), k = Name("k_", side), to = Name("to_", side);
  const std::string down = fmt::format(" + {} * {}", round, Fresh(side.letter == "m" ? "kLinesM" : "kLinesN"));
  std::string text = fmt::format("      {} = {};\n", at, Name("from_", side));
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1} * {2}{3} / {4}; ++{0}, {5} += {6})\n", round, side.size,
                      names_.tile_k, IsByK(side) ? "" : " / 4", Fresh("kThreads"), at, Name("step_", side));
  return text + fmt::format("        __pipeline_memcpy_async(&{}[{}][{}{}][{}{}], {}, {});\n", Name("tile_", side), Fresh("slot"),
                            k, IsByK(side) ? "" : down, to, IsByK(side) ? down : "", at, IsByK(side) ? 4 : 16);
}

// The same for a tile at an edge, or whose rows are not aligned: element by element, with zeros for those that are not there.
std::string TileRingWriter::CheckedCopies(const Side& side) const {
  const std::string t = Fresh("t"), k = Fresh("part_k"), output = Fresh("output"), inside = Fresh("inside");
  const std::string fast = IsByK(side) ? names_.tile_k : side.size;
  const std::string along = fmt::format("{} % {}", t, fast), across = fmt::format("{} / {}", t, fast);
  std::string text = fmt::format("#pragma unroll 1\n      for (int {0} = threadIdx.x; {0} < {1} * {2}; {0} += {3}) {{\n", t,
                                 side.size, names_.tile_k, Fresh("kThreads"));
  text +=
      fmt::format("        const int {} = {}, {} = {};\n", output, IsByK(side) ? across : along, k, IsByK(side) ? along : across);
  text +=
      fmt::format("        const bool {} = {} + {} < {} && {} * {} + {} < {};\n", inside, Name("first_", side), output,
                  Parenthesised(tree_, side.index.bound), Fresh("next"), names_.tile_k, k, Parenthesised(tree_, found_.k.bound));
  text +=
      fmt::format("        __pipeline_memcpy_async(&{}[{}][{}][{}], {}({}, {} * {} + {}), 4, {} ? 0 : 4);\n", Name("tile_", side),
                  Fresh("slot"), k, output, Name("at_", side), output, Fresh("next"), names_.tile_k, k, inside);
  return text + "      }\n";
}

// The function that starts to bring a tile.
std::string TileRingWriter::Bringing() const {
  const std::string next = Fresh("next"), bound = Parenthesised(tree_, found_.k.bound);
  std::string text = fmt::format("  const int {0} = ({1} + {2} - 1) / {2};\n", Fresh("steps"), bound, names_.tile_k);
  text += fmt::format("  const auto {} = [&](int {}) {{\n", Fresh("bring"), next);
  text += fmt::format("    const int {} = {} % {};\n", Fresh("slot"), next, names_.stages);
  text += fmt::format("    if ({} && ({} + 1) * {} <= {}) {{\n", Fresh("whole"), next, names_.tile_k, bound);
  text += fmt::format("      const float* {}", Copies(m_).substr(6)) + Copies(n_);
  text += fmt::format("      {} += {};\n      {} += {};\n", Name("from_", m_), Name("next_", m_), Name("from_", n_),
                      Name("next_", n_));
  text += fmt::format("    }} else if ({} < {}) {{\n", next, Fresh("steps")) + CheckedCopies(m_) + CheckedCopies(n_);
  return text + "    }\n    __pipeline_commit();\n  };\n";
}

// The function that loads a thread's parts of one step of k.
std::string TileRingWriter::Loading() const {
  const std::string now = Fresh("now"), slot = Fresh("slot"), k = Fresh("part_k");
  std::string text;
  for (const Side& side : {m_, n_}) text += fmt::format("  __align__(16) float {}[2][{}];\n", Name("part_", side), side.thread);
  text += fmt::format("  const auto {} = [&](int {}, int {}, int {}) {{\n", Fresh("load"), now, slot, k);
  for (const Side& side : {m_, n_}) {
    text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; {0} += 4) {{\n", side.counter, side.thread);
    text += fmt::format("      *reinterpret_cast<float4*>(&{}[{}][{}]) =\n", Name("part_", side), now, side.counter);
    text += fmt::format("        *reinterpret_cast<const float4*>(&{}[{}][{}][{} + {} * 4 + {} * {}]);\n    }}\n",
                        Name("tile_", side), slot, k, Name("own_", side), Name("lane_", side), side.counter,
                        side.letter == "m" ? names_.lanes_m : Fresh("kLanesN"));
  }
  return text + "  };\n";
}

// Gives each of a thread's sums what it starts with, if that is not 0.
std::string TileRingWriter::Starts() const {
  if (found_.start < 0) return "";
  std::string text;
  for (const Side& side : {m_, n_}) {
    text += fmt::format("#pragma unroll\n{2}for (int {0} = 0; {0} < {1}; ++{0}) {{\n", side.counter, side.thread,
                        side.letter == "m" ? "  " : "    ");
  }
  for (const Side& side : {m_, n_}) {
    const std::string lanes = side.letter == "m" ? names_.lanes_m : Fresh("kLanesN");
    text += fmt::format("      {} = {} + {} + {} * 4 + {} / 4 * 4 * {} + {} % 4;\n", Typed(side.index.declaration),
                        Name("first_", side), Name("own_", side), Name("lane_", side), side.counter, lanes, side.counter);
  }
  text += fmt::format("      if ({} >= {} || {} >= {}) continue;\n", tree_.node(m_.index.declaration).name,
                      tree_.Text(m_.index.bound), tree_.node(n_.index.declaration).name, tree_.Text(n_.index.bound));
  return text + Started(fmt::format("{}[{}][{}]", Fresh("sums"), m_.counter, n_.counter), "      ") + "    }\n  }\n";
}

std::string TileRingWriter::Products() const {
  const auto& [tile_m, tile_n, tile_k, thread_m, thread_n, lanes_m, stages, blocks, unrolled] = names_;
  const std::string step = Fresh("step"), steps = Fresh("steps"), k = Fresh("part_k"), now = Fresh("now"), &j = n_.counter;
  const std::string next = Fresh("next"), bring = Fresh("bring"), load = Fresh("load"), up = Fresh("up"), &i = m_.counter;
  const SyntaxNode& sum = tree_.node(found_.accumulator);
  const auto wait = [&](const char* indent) {
    return fmt::format("{0}__pipeline_wait_prior({1} - 2);\n{0}__syncthreads();\n", indent, stages);
  };
  std::string text =
      fmt::format("  // nvcc does not expand macros in a pragma.\n  constexpr int {} = {};\n", Fresh("kUnrollK"), unrolled);
  text += fmt::format("  {} {}[{}][{}] = {{}};\n", sum.type, Fresh("sums"), thread_m, thread_n);
  text += Starts();
  text += fmt::format("  for (int {0} = 0; {0} < {1} - 1; ++{0}) {2}({0});\n", next, stages, bring);
  text += wait("  ") + fmt::format("  {}(0, 0, 0);\n", load);
  text += fmt::format("  for (int {0} = 0; {0} < {1}; ++{0}) {{\n    {2}({0} + {3} - 1);\n", step, steps, bring, stages);
  text += fmt::format("#pragma unroll {2}\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", k, tile_k, Fresh("kUnrollK"));
  text += "      // While this step's products are computed, the next step's parts are loaded.\n";
  text += fmt::format("      const int {} = {} % 2;\n", now, k);
  text += fmt::format("      if ({} + 1 < {}) {{\n        {}(1 - {}, {} % {}, {} + 1);\n      }} else {{\n", k, tile_k, load, now,
                      step, stages, k);
  text += wait("        ") + fmt::format("        {}(1 - {}, ({} + 1) % {}, 0);\n      }}\n", load, now, step, stages);
  text += "      // Every second column is computed upwards, so that neighbouring products share a factor.\n";
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1}; ++{0}) {{\n", j, thread_n);
  text += fmt::format("#pragma unroll\n        for (int {0} = 0; {0} < {1}; ++{0}) {{\n", up, thread_m);
  text += fmt::format("          const int {0} = {1} % 2 == 0 ? {2} : {3} - 1 - {2};\n", i, j, up, thread_m);
  Replacements parts = UsesAs(tree_, found_.accumulator, found_.update, fmt::format("{}[{}][{}]", Fresh("sums"), i, j));
  for (const Side& side : {m_, n_})
    parts.emplace_back(side.factor.expression, fmt::format("{}[{}][{}]", Name("part_", side), now, side.counter));
  return text + fmt::format("          {}\n        }}\n      }}\n    }}\n  }}\n", TextWith(tree_, found_.update, parts));
}

// What follows the sum, a row of each lane at a time.
std::string TileRingWriter::Stores() const {
  const std::string t = Fresh("t"), own = Fresh("own"), row = Fresh("kRow"), lane = Fresh("lane"), &i = m_.counter;
  const std::string kLanesN = Fresh("kLanesN"), kWarpN = Fresh("kWarpN"), &lanes_m = names_.lanes_m, &j = n_.counter;
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text =
      "  // The sums go through shared memory, so that neighbouring threads store neighbouring elements.\n  __syncthreads();\n";
  text += fmt::format("  constexpr int {} = {} + 4;\n", row, kWarpN);
  text += fmt::format("  float* {} = reinterpret_cast<float*>({}) + {} * {} * {};\n", own, UnusedName(tree_.text(), "tiles"),
                      Fresh("warp"), lanes_m, row);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", i, m_.thread);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0})\n", j, n_.thread);
  text += fmt::format("      {0}[{1} * {2} + {3} * 4 + {4} / 4 * 4 * {5} + {4} % 4] = {6}[{7}][{4}];\n", own, Fresh("lane_m"),
                      row, Fresh("lane_n"), j, kLanesN, Fresh("sums"), i);
  text += "    __syncwarp();\n";
  text += fmt::format("#pragma unroll 4\n    for (int {0} = {1}; {0} < {2} * {3}; {0} += 32) {{\n", t, lane, lanes_m, kWarpN);
  text += fmt::format("      {} = {} + {} + {} / {} * 4 + {} / 4 * 4 * {} + {} % 4;\n", Typed(m_.index.declaration),
                      Fresh("first_m"), Fresh("own_m"), t, kWarpN, i, lanes_m, i);
  text +=
      fmt::format("      {} = {} + {} + {} % {};\n", Typed(n_.index.declaration), Fresh("first_n"), Fresh("own_n"), t, kWarpN);
  text += fmt::format("      if ({} >= {} || {} >= {}) continue;\n", name(m_.index.declaration), tree_.Text(m_.index.bound),
                      name(n_.index.declaration), tree_.Text(n_.index.bound));
  const std::string& sum = name(found_.accumulator);
  text += fmt::format("      float {0} = {1}[{2} / {3} * {4} + {2} % {3}];\n", sum, own, t, kWarpN, row);
  return text + Epilogue(sum, "      ", true) + "    }\n    __syncwarp();\n  }\n";
}

std::string TileRingWriter::Body() const {
  return Finished("{\n" + Constants() + Common("  ") + Address(m_) + Address(n_) + Whole() + Bringing() + Loading() + Products() +
                  Stores() + "}");
}

}  // namespace evo
