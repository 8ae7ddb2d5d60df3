#include <fmt/format.h>

#include "mutators/parallelism/stencils/stencil_sum_writer.h"

namespace evo {

// The function that takes the next plane.
std::string StencilSumWriter::AdvancePlane() const {
  const std::size_t last = parts_.layout.last();
  const std::string z = parts_.names.Coordinate(last), slot = parts_.names.Own("slot"),
                    results = parts_.names.Results(parts_.found.stored[0]);
  const int buffer = parts_.found.buffers[0];
  std::string text =
      fmt::format("const auto {} = [&](int {}, int {}, {}<{}> (&{})[{}]) {{\n", parts_.names.Own("advance"), z, slot,
                  parts_.names.Function("Items"), parts_.names.TypeOf(parts_.found.stored[0]), results, parts_.parameters.rows);
  text += "  // The plane is there, and no thread needs the one any more whose place the next takes.\n";
  text += fmt::format("  __pipeline_wait_prior({0} - 1);\n  __syncthreads();\n", parts_.parameters.ahead);
  text += fmt::format("  {0}({1} + {2}, ({3} + {2}) % ({2} + 1));\n", parts_.names.Own("stage"),
                      StencilLayout::Sum(z, parts_.found.highest[last]), parts_.parameters.ahead, slot);
  text += fmt::format("  {}({}, {}[{}]);\n", parts_.names.Function("LoadAround"), parts_.names.Window(buffer),
                      parts_.names.Staged(buffer), slot);
  return text + Taken();
}

// What a thread has computed of a plane.
std::string StencilSumWriter::StorePlane() const {
  const std::string r = parts_.names.Own("r"), e = parts_.names.Own("e"), to = parts_.names.Own("to"), indent = "    ";
  const int buffer = parts_.found.stored[0];
  const std::string results = parts_.names.Results(buffer);
  std::string text =
      fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, parts_.parameters.rows);
  text += fmt::format("{}  {}* const {} = {} + (long long){} * {};\n", indent, parts_.names.TypeOf(buffer), to,
                      parts_.names.Own("to_first"), r, parts_.found.lengths[0].kernel);
  text +=
      fmt::format("{}  if ({} < {}) *reinterpret_cast<{}<{}>*>({}) = {}[{}];\n{}}}\n", indent, r, parts_.names.Own("stored_rows"),
                  parts_.names.Function("Items"), parts_.names.TypeOf(buffer), to, results, r, indent);
  text += fmt::format("{}if (!{}) {{\n#pragma unroll\n{}  for (int {} = 0; {} < {}; ++{}) {{\n", indent, begin_.Stored(), indent,
                      r, r, parts_.parameters.rows, r);
  text += fmt::format("{}    if ({} + {} >= {}) break;\n#pragma unroll\n{}    for (int {} = 0; {} < {}; ++{}) {{\n", indent,
                      parts_.names.First(1), r, parts_.layout.End(1), indent, e, e, parts_.parameters.items, e);
  std::string inside = fmt::format("{} + {} < {}", parts_.names.First(0), e, parts_.layout.End(0));
  if (!parts_.found.stores[0].BeginsAtZero())
    inside = fmt::format("{} + {} >= {} && {}", parts_.names.First(0), e, parts_.found.stores[0].Low(), inside);
  text += fmt::format("{0}      if ({1}) {2}[(long long){3} * {4} + {5}] = {6}[{3}].values[{5}];\n", indent, inside,
                      parts_.names.Own("to_first"), r, parts_.found.lengths[0].kernel, e, results);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilSumWriter::PlaneLoop() const {
  const std::size_t last = parts_.layout.last();
  const std::int64_t depth = parts_.layout.Depth();
  const std::string first = parts_.names.First(last), k = parts_.names.Own("k"), z = parts_.names.Coordinate(last),
                    slot = parts_.names.Own("slot");
  const std::string turn = parts_.names.Own("turn"), results = parts_.names.Results(parts_.found.stored[0]);
  std::string text = AdvancePlane();
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0});\n", k, parts_.parameters.ahead,
                      parts_.names.Own("stage"), StencilLayout::Sum(first, parts_.found.lowest[last]));
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0} % ({4} + 1), {5});\n", k, depth - 1,
                      parts_.names.Own("advance"), StencilLayout::Sum(first, 1 - depth), parts_.parameters.ahead, results);
  text +=
      fmt::format("{}* {} = {} + (((long long){} * {} + {}) * {} + {});\n", parts_.names.TypeOf(parts_.found.stored[0]),
                  parts_.names.Own("to_first"), parts_.tree.node(parts_.found.stored[0]).name, first,
                  parts_.found.lengths[1].kernel, parts_.names.First(1), parts_.found.lengths[0].kernel, parts_.names.First(0));
  text += fmt::format("const int {} = {} ? {} - {} : 0;\n", parts_.names.Own("stored_rows"), begin_.Stored(),
                      parts_.layout.End(1), parts_.names.First(1));
  text += fmt::format("for (int {0} = {1};; {0} += {2} + 1) {{\n", turn, first, parts_.parameters.ahead);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} <= {1}; ++{0}) {{\n    const int {2} = {3} + {0};\n", slot,
                      parts_.parameters.ahead, z, turn);
  text += fmt::format("    if ({} >= {}) return;\n    {}({}, ({} + {}) % ({} + 1), {});\n", z, parts_.names.Own("end"),
                      parts_.names.Own("advance"), z, slot, depth - 1, parts_.parameters.ahead, results);
  return text + StorePlane() +
         fmt::format("    {} += {};\n  }}\n}}\n", parts_.names.Own("to_first"), parts_.names.Own("plane_size"));
}

// The function that takes the next row.
std::string StencilSumWriter::AdvanceRow() const {
  const std::size_t last = parts_.layout.last();
  const int buffer = parts_.found.buffers[0];
  const std::string y = parts_.names.Coordinate(last), k = parts_.names.Own("k"), j = parts_.names.Own("j"),
                    kept = parts_.names.Own("kKept");
  const std::string window = parts_.names.Window(buffer);
  std::string text =
      fmt::format("const auto {} = [&](int {}, {}<{}>& {}) {{\n", parts_.names.Own("advance"), y, parts_.names.Function("Items"),
                  parts_.names.TypeOf(parts_.found.stored[0]), parts_.names.Results(parts_.found.stored[0]));
  text += fmt::format("#pragma unroll\n  for (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {2}[{3} - 1][{0}] = {2}[{3}][{0}];\n  }}\n", j,
                      parts_.layout.Columns(), window, k);
  text += "  " + loads_.Load(buffer, kept + " - 1",
                             StencilLayout::Sum(fmt::format("{} + {}", y, parts_.parameters.ahead), parts_.found.highest[last]));
  return text + Taken();
}

std::string StencilSumWriter::RowLoop() const {
  const std::size_t last = parts_.layout.last();
  const int buffer = parts_.found.buffers[0], to = parts_.found.stored[0];
  const std::string first = parts_.names.First(last), k = parts_.names.Own("k"), y = parts_.names.Coordinate(last),
                    kept = parts_.names.Own("kKept");
  const std::string advance = parts_.names.Own("advance"), results = parts_.names.Results(to),
                    place = parts_.names.Own("to_first");
  const std::string e = parts_.names.Own("e"), &width = parts_.found.lengths[0].kernel;
  std::string text = AdvanceRow();
  text += fmt::format("#pragma unroll\nfor (int {0} = 1; {0} < {1}; ++{0}) {{\n  {2}}}\n", k, kept,
                      loads_.Load(buffer, k, StencilLayout::Sum(first + " + " + k, parts_.found.lowest[last] - 1)));
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {4});\n", k, parts_.layout.Depth() - 1,
                      advance, StencilLayout::Sum(first, 1 - parts_.layout.Depth()), results);
  text += fmt::format("{}* {} = {} + ((long long){} * {} + {});\n", parts_.names.TypeOf(to), place, parts_.tree.node(to).name,
                      first, width, parts_.names.First(0));
  text += fmt::format("#pragma unroll {0}\nfor (int {1} = {2}; {1} < {3}; ++{1}, {4} += {5}) {{\n  {6}({1}, {7});\n", kept, y,
                      first, parts_.names.Own("end"), place, width, advance, results);
  text += fmt::format("  if ({}) {{\n    *reinterpret_cast<{}<{}>*>({}) = {};\n  }} else {{\n", begin_.Stored(),
                      parts_.names.Function("Items"), parts_.names.TypeOf(to), place, results);
  std::string inside = fmt::format("{} + {} < {}", parts_.names.First(0), e, parts_.layout.End(0));
  if (!parts_.found.stores[0].BeginsAtZero())
    inside = fmt::format("{} + {} >= {} && {}", parts_.names.First(0), e, parts_.found.stores[0].Low(), inside);
  return text + fmt::format(
                    "#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n      if ({2}) {3}[{0}] = {4}.values[{0}];\n"
                    "    }}\n  }}\n}}\n",
                    e, parts_.parameters.items, inside, place, results);
}

}  // namespace evo
