#include <fmt/format.h>

#include "mutators/parallelism/stencil_sum_writer.h"

namespace evo {

// The function that takes the next plane.
std::string StencilSumWriter::AdvancePlane() const {
  const std::size_t last = layout_.last();
  const std::string z = names_.Coordinate(last), slot = names_.Own("slot"), results = names_.Results(found_.stored[0]);
  const int buffer = found_.buffers[0];
  std::string text = fmt::format("const auto {} = [&](int {}, int {}, {}<{}> (&{})[{}]) {{\n", names_.Own("advance"), z, slot,
                                 names_.Function("Items"), names_.TypeOf(found_.stored[0]), results, parameters_.rows);
  text += "  // The plane is there, and no thread needs the one any more whose place the next takes.\n";
  text += fmt::format("  __pipeline_wait_prior({0} - 1);\n  __syncthreads();\n", parameters_.ahead);
  text += fmt::format("  {0}({1} + {2}, ({3} + {2}) % ({2} + 1));\n", names_.Own("stage"),
                      StencilLayout::Sum(z, found_.highest[last]), parameters_.ahead, slot);
  text += fmt::format("  {}({}, {}[{}]);\n", names_.Function("LoadAround"), names_.Window(buffer), names_.Staged(buffer), slot);
  return text + Taken();
}

// What a thread has computed of a plane.
std::string StencilSumWriter::StorePlane() const {
  const std::string r = names_.Own("r"), e = names_.Own("e"), to = names_.Own("to"), indent = "    ";
  const int buffer = found_.stored[0];
  const std::string results = names_.Results(buffer);
  std::string text = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, parameters_.rows);
  text += fmt::format("{}  {}* const {} = {} + (long long){} * {};\n", indent, names_.TypeOf(buffer), to, names_.Own("to_first"),
                      r, found_.lengths[0].kernel);
  text += fmt::format("{}  if ({} < {}) *reinterpret_cast<{}<{}>*>({}) = {}[{}];\n{}}}\n", indent, r, names_.Own("stored_rows"),
                      names_.Function("Items"), names_.TypeOf(buffer), to, results, r, indent);
  text += fmt::format("{}if (!{}) {{\n#pragma unroll\n{}  for (int {} = 0; {} < {}; ++{}) {{\n", indent, begin_.Stored(), indent,
                      r, r, parameters_.rows, r);
  text += fmt::format("{}    if ({} + {} >= {}) break;\n#pragma unroll\n{}    for (int {} = 0; {} < {}; ++{}) {{\n", indent,
                      names_.First(1), r, layout_.End(1), indent, e, e, parameters_.items, e);
  std::string inside = fmt::format("{} + {} < {}", names_.First(0), e, layout_.End(0));
  if (found_.stores[0].low > 0) inside = fmt::format("{} + {} >= {} && {}", names_.First(0), e, found_.stores[0].low, inside);
  text += fmt::format("{0}      if ({1}) {2}[(long long){3} * {4} + {5}] = {6}[{3}].values[{5}];\n", indent, inside,
                      names_.Own("to_first"), r, found_.lengths[0].kernel, e, results);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilSumWriter::PlaneLoop() const {
  const std::size_t last = layout_.last();
  const std::int64_t depth = layout_.Depth();
  const std::string first = names_.First(last), k = names_.Own("k"), z = names_.Coordinate(last), slot = names_.Own("slot");
  const std::string turn = names_.Own("turn"), results = names_.Results(found_.stored[0]);
  std::string text = AdvancePlane();
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0});\n", k, parameters_.ahead,
                      names_.Own("stage"), StencilLayout::Sum(first, found_.lowest[last]));
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0} % ({4} + 1), {5});\n", k, depth - 1,
                      names_.Own("advance"), StencilLayout::Sum(first, 1 - depth), parameters_.ahead, results);
  text += fmt::format("{}* {} = {} + (((long long){} * {} + {}) * {} + {});\n", names_.TypeOf(found_.stored[0]),
                      names_.Own("to_first"), tree_.node(found_.stored[0]).name, first, found_.lengths[1].kernel, names_.First(1),
                      found_.lengths[0].kernel, names_.First(0));
  text += fmt::format("const int {} = {} ? {} - {} : 0;\n", names_.Own("stored_rows"), begin_.Stored(), layout_.End(1),
                      names_.First(1));
  text += fmt::format("for (int {0} = {1};; {0} += {2} + 1) {{\n", turn, first, parameters_.ahead);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} <= {1}; ++{0}) {{\n    const int {2} = {3} + {0};\n", slot,
                      parameters_.ahead, z, turn);
  text += fmt::format("    if ({} >= {}) return;\n    {}({}, ({} + {}) % ({} + 1), {});\n", z, names_.Own("end"),
                      names_.Own("advance"), z, slot, depth - 1, parameters_.ahead, results);
  return text + StorePlane() + fmt::format("    {} += {};\n  }}\n}}\n", names_.Own("to_first"), names_.Own("plane_size"));
}

// The function that takes the next row.
std::string StencilSumWriter::AdvanceRow() const {
  const std::size_t last = layout_.last();
  const int buffer = found_.buffers[0];
  const std::string y = names_.Coordinate(last), k = names_.Own("k"), j = names_.Own("j"), kept = names_.Own("kKept");
  const std::string window = names_.Window(buffer);
  std::string text = fmt::format("const auto {} = [&](int {}, {}<{}>& {}) {{\n", names_.Own("advance"), y,
                                 names_.Function("Items"), names_.TypeOf(found_.stored[0]), names_.Results(found_.stored[0]));
  text += fmt::format("#pragma unroll\n  for (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {2}[{3} - 1][{0}] = {2}[{3}][{0}];\n  }}\n", j,
                      layout_.Columns(), window, k);
  text += "  " + loads_.Load(buffer, kept + " - 1",
                             StencilLayout::Sum(fmt::format("{} + {}", y, parameters_.ahead), found_.highest[last]));
  return text + Taken();
}

std::string StencilSumWriter::RowLoop() const {
  const std::size_t last = layout_.last();
  const int buffer = found_.buffers[0], to = found_.stored[0];
  const std::string first = names_.First(last), k = names_.Own("k"), y = names_.Coordinate(last), kept = names_.Own("kKept");
  const std::string advance = names_.Own("advance"), results = names_.Results(to), place = names_.Own("to_first");
  const std::string e = names_.Own("e"), &width = found_.lengths[0].kernel;
  std::string text = AdvanceRow();
  text += fmt::format("#pragma unroll\nfor (int {0} = 1; {0} < {1}; ++{0}) {{\n  {2}}}\n", k, kept,
                      loads_.Load(buffer, k, StencilLayout::Sum(first + " + " + k, found_.lowest[last] - 1)));
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {4});\n", k, layout_.Depth() - 1,
                      advance, StencilLayout::Sum(first, 1 - layout_.Depth()), results);
  text += fmt::format("{}* {} = {} + ((long long){} * {} + {});\n", names_.TypeOf(to), place, tree_.node(to).name, first, width,
                      names_.First(0));
  text += fmt::format("#pragma unroll {0}\nfor (int {1} = {2}; {1} < {3}; ++{1}, {4} += {5}) {{\n  {6}({1}, {7});\n", kept, y,
                      first, names_.Own("end"), place, width, advance, results);
  text += fmt::format("  if ({}) {{\n    *reinterpret_cast<{}<{}>*>({}) = {};\n  }} else {{\n", begin_.Stored(),
                      names_.Function("Items"), names_.TypeOf(to), place, results);
  std::string inside = fmt::format("{} + {} < {}", names_.First(0), e, layout_.End(0));
  if (found_.stores[0].low > 0) inside = fmt::format("{} + {} >= {} && {}", names_.First(0), e, found_.stores[0].low, inside);
  return text + fmt::format(
                    "#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n      if ({2}) {3}[{0}] = {4}.values[{0}];\n"
                    "    }}\n  }}\n}}\n",
                    e, parameters_.items, inside, place, results);
}

}  // namespace evo
