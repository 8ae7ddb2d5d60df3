#include "mutators/parallelism/stencils/stencil_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/stencils/stencil_text.h"

namespace evo {

std::string StencilLoads::Types() const {
  // The line before the kernel belongs to it, such as its launch line.
  const std::size_t line = tree_.text().rfind('\n', tree_.node(found_.kernel).range.begin) + 1;
  std::string text = line < 2 || tree_.text()[line - 2] == '\n' ? "" : "\n";
  if (layout_.has_items()) {
    text += fmt::format(
        "// Neighbouring elements that move at once.\n"
        "template <typename {2}> struct alignas({0} * sizeof({2})) {1} {{\n"
        "  {2} values[{0}];\n"
        "}};\n\n",
        parameters_.items, names_.Function("Items"), names_.Function("Type"));
  }
  if (std::find(found_.periodic.begin(), found_.periodic.end(), true) != found_.periodic.end())
    text += fmt::format(
        "// A coordinate from `low` to before `end`, where past an edge the other one follows.\n"
        "__device__ __forceinline__ int {}(int at, int low, int end) {{\n"
        "  if (at >= low && at < end) return at;\n"
        "  const int rest = (at - low) % (end - low);\n"
        "  return rest < 0 ? rest + end : rest + low;\n"
        "}}\n\n",
        names_.Function("Wrapped"));
  return text;
}

std::string StencilLoads::Functions() const {
  std::string text = Types();
  const std::string columns = layout_.Columns(), rows = layout_.Rows();
  std::vector<std::string> types;
  for (const int buffer : found_.buffers) {
    const std::string type = names_.TypeOf(buffer);
    if (std::find(types.begin(), types.end(), type) != types.end()) continue;
    types.push_back(type);
    text +=
        fmt::format("// Loads what a thread at column `x` needs of a {}; past an edge the {}.\n",
                    layout_.has_rows() ? "plane" : "row", found_.periodic[0] ? "element at the other edge" : "nearest element");
    text += fmt::format("__device__ __forceinline__ void {}({} (&to){}[{}], const {}* from,\n    {}int x, int end{}) {{\n",
                        names_.Function("LoadAround"), type, layout_.has_rows() ? fmt::format("[{}]", rows) : "", columns, type,
                        layout_.has_rows() ? fmt::format("const {} (&rows)[{}], ", names_.Index(), rows) : "",
                        layout_.has_items() ? ", bool whole" : "");
    std::string body = RowLoads(buffer, layout_.has_rows() ? "own" : "from", layout_.has_rows() ? "to[i]" : "to");
    if (layout_.has_rows())
      body = fmt::format("#pragma unroll\nfor (int i = 0; i < {}; ++i) {{\n  const {}* own = from + rows[i];\n{}}}\n", rows, type,
                         StencilText::Indented(body));
    text += StencilText::Indented(body) + "}\n\n";
  }
  return text;
}

// How a thread loads its own elements of a row, which begin at the pointer `own`, and those beside them.
std::string StencilLoads::RowLoads(int buffer, const std::string& own, const std::string& to) const {
  const std::string type = names_.TypeOf(buffer);
  const std::int64_t left = -found_.lowest[0], right = found_.highest[0];
  const Stencil::Range& reads = found_.reads[0];
  const auto load = [&](const std::string& place) {
    return IsLoadable(PointedTo(tree_, buffer)) ? fmt::format("__ldg(&{}[{}])", own, place) : fmt::format("{}[{}]", own, place);
  };
  const bool periodic = found_.periodic[0];
  const auto wrapped = [&](const std::string& x) { return load(layout_.Wrapped(x, 0, "end") + " - x"); };
  std::string text;
  if (layout_.has_items()) {
    text += fmt::format(
        "if (whole) {{\n"
        "  const {0}<{1}> items = *reinterpret_cast<const {0}<{1}>*>({2});\n"
        "#pragma unroll\n"
        "  for (int e = 0; e < {3}; ++e) {4}[{5}] = items.values[e];\n"
        "}} else {{\n"
        "#pragma unroll\n"
        "  for (int e = 0; e < {3}; ++e) {4}[{5}] = {6};\n"
        "}}\n",
        names_.Function("Items"), type, own, parameters_.items, to, StencilLayout::Sum("e", left),
        periodic ? wrapped("x + e") : load(fmt::format("min(max(x + e, {}), end - 1) - x", reads.Low())));
  } else {
    text += fmt::format("{}[{}] = {};\n", to, left, load("0"));
  }
  const std::string items = layout_.has_items() ? parameters_.items : "1";
  const std::string beyond = layout_.has_items() ? StencilLayout::Sum(items, left) : std::to_string(1 + left);
  if (periodic) {
    const auto beside = [&](std::int64_t count, const std::string& from, const std::string& end) {
      if (count == 0) return std::string();
      if (count == 1)
        return fmt::format("{}[{}] = {};\n", to, from, wrapped(from == "0" ? StencilLayout::Sum("x", -left) : "x + " + items));
      return fmt::format("#pragma unroll\nfor (int j = {}; j < {}; ++j) {}[j] = {};\n", from, end, to,
                         wrapped(StencilLayout::Sum("x + j", -left)));
    };
    return text + beside(left, "0", std::to_string(left)) + beside(right, beyond, layout_.Columns());
  }
  if (left == 1)
    text += fmt::format("{0}[0] = x > {1} ? {2} : {0}[1];\n", to, reads.Low(), load("-1"));
  else if (left > 1)
    text += fmt::format("#pragma unroll\nfor (int j = {1}; j >= 0; --j) {0}[j] = x + j >= {2} ? {3} : {0}[j + 1];\n", to,
                        left - 1, reads.Low(left), load(fmt::format("j - {}", left)));
  if (right == 1)
    text += fmt::format("{0}[{1}] = x + {2} < end ? {3} : {0}[{4}];\n", to, beyond, items, load(items),
                        layout_.has_items() ? StencilLayout::Sum(items, left - 1) : std::to_string(left));
  else if (right > 1)
    text += fmt::format("#pragma unroll\nfor (int j = {1}; j < {2}; ++j) {0}[j] = {3} < end ? {4} : {0}[j - 1];\n", to, beyond,
                        layout_.Columns(), StencilLayout::Sum("x + j", -left), load(StencilLayout::Sum("j", -left)));
  return text;
}

// Of a line of elements.
std::string StencilLoads::LineLoads() const {
  const std::string own = layout_.has_items() ? names_.First(0) : names_.Coordinate(0);
  std::string text;
  for (const int buffer : found_.buffers)
    text += fmt::format("{0} {1}[1][{2}];\n{3}({1}[0], {4} + {5}, {5}, {6}{7});\n", names_.TypeOf(buffer), names_.Window(buffer),
                        layout_.Columns(), names_.Function("LoadAround"), tree_.node(buffer).name, own,
                        StencilLayout::Plain(found_.reads[0].end.kernel), layout_.has_items() ? ", " + names_.Own("whole") : "");
  return text;
}

std::string StencilLoads::Load(int buffer, const std::string& to, const std::string& coordinate) const {
  const std::string rows = layout_.has_rows() ? names_.Own("rows") + ", " : "";
  const std::string own = layout_.has_items() ? names_.First(0) : names_.Coordinate(0);
  const std::string x = fmt::format("{}, {}", own, StencilLayout::Plain(found_.reads[0].end.kernel));
  return fmt::format("{}({}[{}], {} + {}{}, {}{}{});\n", names_.Function("LoadAround"), names_.Window(buffer), to,
                     tree_.node(buffer).name, layout_.Line(layout_.Existing(coordinate, layout_.last())),
                     layout_.has_rows() ? "" : " + " + own, rows, x, layout_.has_items() ? ", " + names_.Own("whole") : "");
}

std::string StencilLoads::Loop() const {
  if (found_.IsLine()) return LineLoads();
  const std::string first = names_.First(layout_.last()), kept = names_.Own("kKept"), z = names_.Coordinate(layout_.last());
  const std::string i = names_.Counter("i"), j = names_.Counter("j"), k = names_.Counter("k");
  const std::string columns = layout_.Columns();
  std::string text;
  for (const int buffer : found_.buffers)
    text += fmt::format("{} {}[{}]{}[{}];\n", names_.TypeOf(buffer), names_.Window(buffer), kept,
                        layout_.has_rows() ? fmt::format("[{}]", layout_.Rows()) : "", columns);
  text += fmt::format("#pragma unroll\nfor (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  for (const int buffer : found_.buffers)
    text += "  " + Load(buffer, k, StencilLayout::Sum(first + " + " + k, found_.lowest[layout_.last()] - 1));
  text += fmt::format("}}\n#pragma unroll {0}\nfor (int {1} = {2}; {1} < {3}; ++{1}) {{\n", kept, z, first, names_.Own("end"));
  text += fmt::format("#pragma unroll\n  for (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  std::string indices = layout_.has_rows() ? fmt::format("[{}]", i) : "";
  std::string indent = "    ";
  if (layout_.has_rows()) {
    text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", i, layout_.Rows());
    indent += "  ";
  }
  text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, j, columns);
  for (const int buffer : found_.buffers) {
    text += fmt::format("{0}  {1}[{2} - 1]{3}[{4}] = {1}[{2}]{3}[{4}];\n", indent, names_.Window(buffer), k, indices, j);
  }
  text += indent + "}\n" + (layout_.has_rows() ? "    }\n" : "") + "  }\n";
  for (const int buffer : found_.buffers)
    text += "  " +
            Load(buffer, kept + " - 1", StencilLayout::Sum(fmt::format("{} + {}", z, kept), found_.lowest[layout_.last()] - 1));
  return text;
}

}  // namespace evo
