// The loops in which a stencil's threads walk along the last axis.
#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/parallelism/stencil_writer.h"

namespace evo {
namespace {

// "ROWS + 2", or "ROWS".
std::string StencilSum(const std::string& text, std::int64_t more) {
  if (more == 0) return text;
  return fmt::format("{} {} {}", text, more < 0 ? "-" : "+", more < 0 ? -more : more);
}

// "1 + first" for elements that do not begin at 0.
std::string FromLow(std::int64_t low, const std::string& text) { return low == 0 ? text : fmt::format("{} + {}", low, text); }

}  // namespace

std::string StencilWriter::Window(int buffer) const {
  return found_.buffers.size() == 1 ? Own("around") : Own("around_" + tree_.node(buffer).name);
}

std::string StencilWriter::Results(int buffer) const {
  return found_.stored.size() == 1 ? Own("results") : Own("results_" + tree_.node(buffer).name);
}

// How many elements a thread needs along an axis, for `own` elements of its own.
std::string StencilWriter::Extent(const std::string& own, std::size_t axis) const {
  if (own.empty()) return std::to_string(1 + Span(axis));
  return StencilSum(own, Span(axis));
}

// A coordinate, past an edge that of the nearest element.
std::string StencilWriter::Clamped(const std::string& coordinate, std::size_t axis) const {
  const Stencil::Range& range = found_.reads[axis];
  return fmt::format("min(max({}, {}), {} - 1)", coordinate, range.low, range.end.kernel);
}

// Where a row begins, or a plane.
std::string StencilWriter::Line(const std::string& coordinate) const {
  const std::string cast = found_.wide ? "(long long)" : "";
  std::string text = fmt::format("{}{} * {}", cast, coordinate, found_.lengths[0].kernel);
  if (has_rows()) text += fmt::format(" * {}", found_.lengths[1].kernel);
  return text;
}

// The index of the element at `x`.
std::string StencilWriter::Element(const std::string& x, bool wide) const {
  const std::string cast = wide ? "(long long)" : "";
  if (!has_rows()) return fmt::format("{}{} * {} + {}", cast, coordinates_[1], found_.lengths[0].kernel, x);
  return fmt::format("({}{} * {} + {}) * {} + {}", cast, coordinates_[2], found_.lengths[1].kernel, coordinates_[1],
                     found_.lengths[0].kernel, x);
}

std::string StencilWriter::Grid() const {
  const auto extent = [&](std::size_t axis) {
    const Stencil::Range& range = found_.stores[axis];
    // Items begin at 0, so that they are aligned.
    const bool whole = range.low == 0 || (axis == 0 && has_items_);
    return whole ? range.end.launch : fmt::format("{} - {}", range.end.launch, range.low);
  };
  const std::string x = has_items_ ? fmt::format("{} * {}", names_.threads_x, names_.items) : names_.threads_x;
  std::string grid = fmt::format("ceil_div({}, {})", extent(0), x);
  if (has_rows()) grid += fmt::format(", ceil_div({}, {} * {})", extent(1), names_.threads_y, names_.rows);
  return grid + fmt::format(", ceil_div({}, {})", extent(last()), names_.steps);
}

std::string StencilWriter::Block() const {
  return has_rows() ? fmt::format("{}, {}", names_.threads_x, names_.threads_y) : names_.threads_x;
}

std::string StencilWriter::Registers() const {
  std::string text = fmt::format("({} + {})", names_.ahead, 1 + Span(last()));
  if (has_rows()) text += fmt::format(" * ({})", Extent(names_.rows, 1));
  text += fmt::format(" * ({})", Extent(has_items_ ? names_.items : "", 0));
  return found_.buffers.size() == 1 ? text : fmt::format("{} * {}", text, found_.buffers.size());
}

std::string StencilWriter::Functions() const {
  std::string text;
  if (has_items_) {
    text += fmt::format(
        "// Neighbouring elements that move at once.\n"
        "template <typename T>\n"
        "struct alignas({0} * sizeof(T)) {1} {{\n"
        "  T values[{0}];\n"
        "}};\n\n",
        names_.items, Function("Items"));
  }
  const std::string columns = Extent(has_items_ ? names_.items : "", 0), rows = Extent(names_.rows, 1);
  std::vector<std::string> types;
  for (const int buffer : found_.buffers) {
    if (std::find(types.begin(), types.end(), TypeOf(buffer)) != types.end()) continue;
    types.push_back(TypeOf(buffer));
    const std::string& type = types.back();
    text += fmt::format("// Loads what a thread needs of a {}{}.\n", has_rows() ? "plane" : "row",
                        has_items_ ? ", its own elements at once where `whole` is set" : "");
    text += fmt::format("__device__ __forceinline__ void {}({} (&to){}[{}], const {}* from,\n    {}const int (&columns)[{}]{}) {{\n",
                        Function("LoadAround"), type, has_rows() ? fmt::format("[{}]", rows) : "", columns, type,
                        has_rows() ? fmt::format("const {} (&rows)[{}], ", Index(), rows) : "", columns,
                        has_items_ ? ", bool whole" : "");
    const std::string element = fmt::format("from[{}columns[j]]", has_rows() ? "rows[i] + " : "");
    const std::string load = IsLoadable(PointedTo(tree_, buffer)) ? fmt::format("__ldg(&{})", element) : element;
    const std::string to = has_rows() ? "to[i]" : "to";
    std::string body;
    if (has_items_) {
      body += fmt::format(
          "if (whole) {{\n"
          "  const {0}<{1}> own = *reinterpret_cast<const {0}<{1}>*>(&from[{2}columns[{3}]]);\n"
          "#pragma unroll\n"
          "  for (int e = 0; e < {4}; ++e) {5}[e + {3}] = own.values[e];\n"
          "}}\n",
          Function("Items"), type, has_rows() ? "rows[i] + " : "", -found_.lowest[0], names_.items, to);
    }
    body += fmt::format("#pragma unroll\nfor (int j = 0; j < {}; ++j) {{\n", columns);
    if (has_items_)
      body += fmt::format("  if (!whole || j < {} || j >= {}) {}[j] = {};\n", -found_.lowest[0],
                          StencilSum(names_.items, -found_.lowest[0]), to, load);
    else
      body += fmt::format("  {}[j] = {};\n", to, load);
    body += "}\n";
    if (has_rows()) body = fmt::format("#pragma unroll\nfor (int i = 0; i < {}; ++i) {{\n{}}}\n", rows, Indented(body));
    text += Indented(body) + "}\n\n";
  }
  return text;
}

// Whether all items of a thread lie within the grid, at addresses at which they can move at once.
std::string StencilWriter::Whole() const {
  const std::string x = First(0);
  std::vector<std::string> parts;
  const std::int64_t low = std::max(found_.stores[0].low, found_.reads[0].low);
  if (low > 0) parts.push_back(fmt::format("{} >= {}", x, low));
  parts.push_back(fmt::format("{} + {} <= {}", x, names_.items, found_.stores[0].end.kernel));
  parts.push_back(fmt::format("{} % {} == 0", found_.lengths[0].kernel, names_.items));
  for (const auto* buffers : {&found_.buffers, &found_.stored}) {
    for (const int buffer : *buffers)
      parts.push_back(fmt::format("reinterpret_cast<unsigned long long>({}) % sizeof({}<{}>) == 0", tree_.node(buffer).name,
                                  Function("Items"), TypeOf(buffer)));
  }
  std::string text;
  std::size_t line = 22;
  for (const std::string& part : parts) {
    if (!text.empty() && line + part.size() > 110) {
      text += " &&\n                     " + part;
      line = 22 + part.size();
      continue;
    }
    text += (text.empty() ? "" : " && ") + part;
    line += part.size() + 4;
  }
  return text;
}

std::string StencilWriter::Begin() const {
  const char* const plane = has_rows() ? "plane" : "row";
  const std::string x = has_items_ ? First(0) : coordinates_[0];
  const std::string first = First(last()), end = Own("end");
  std::string text;
  const auto line = [&](const std::string& one) { text += one + "\n"; };
  line(fmt::format("// A block walks through {} {}s. Its threads keep what they still need of {} of them in registers, and load one",
                   names_.steps, plane, 1 + Span(last())));
  line(fmt::format("// {} in each step, {} steps before it is needed.", plane, names_.ahead));
  line(fmt::format("constexpr int {} = {};", Own("kKept"), StencilSum(names_.ahead, 1 + Span(last()))));
  const std::string thread = fmt::format("blockIdx.x * {} + threadIdx.x", names_.threads_x);
  line(fmt::format("const int {} = {};", x,
                   has_items_ ? fmt::format("({}) * {}", thread, names_.items) : FromLow(found_.stores[0].low, thread)));
  if (has_rows())
    line(fmt::format("const int {} = {};", First(1),
                     FromLow(found_.stores[1].low, fmt::format("(blockIdx.y * {} + threadIdx.y) * {}", names_.threads_y, names_.rows))));
  line(fmt::format("const int {} = {};", first,
                   FromLow(found_.stores[last()].low, fmt::format("blockIdx.{} * {}", has_rows() ? 'z' : 'y', names_.steps))));
  line(fmt::format("const int {} = min({} + {}, {});", end, first, names_.steps, found_.stores[last()].end.kernel));
  std::string outside = fmt::format("{} >= {}", x, found_.stores[0].end.kernel);
  if (has_rows()) outside += fmt::format(" || {} >= {}", First(1), found_.stores[1].end.kernel);
  line(fmt::format("if ({}) return;", outside));
  if (has_items_) line(fmt::format("const bool {} = {};", Own("whole"), Whole()));
  line("// Past an edge, the nearest element takes the place of the one that is not there.");
  line(fmt::format("int {}[{}];", Own("columns"), Extent(has_items_ ? names_.items : "", 0)));
  line("#pragma unroll");
  line(fmt::format("for (int j = 0; j < {}; ++j) {}[j] = {};", Extent(has_items_ ? names_.items : "", 0), Own("columns"),
                   Clamped(StencilSum(x + " + j", found_.lowest[0]), 0)));
  if (has_rows()) {
    line(fmt::format("{} {}[{}];", Index(), Own("rows"), Extent(names_.rows, 1)));
    line("#pragma unroll");
    line(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {}{} * {};", Extent(names_.rows, 1), Own("rows"),
                     found_.wide ? "(long long)" : "", Clamped(StencilSum(First(1) + " + i", found_.lowest[1]), 1),
                     found_.lengths[0].kernel));
  }
  return text;
}

std::string StencilWriter::Loads() const {
  const std::string first = First(last()), kept = Own("kKept"), z = coordinates_[last()];
  const std::string rows = has_rows() ? Own("rows") + ", " : "";
  const auto load = [&](int buffer, const std::string& to, const std::string& coordinate) {
    return fmt::format("{}({}[{}], {} + {}, {}{}{});\n", Function("LoadAround"), Window(buffer), to, tree_.node(buffer).name,
                       Line(Clamped(coordinate, last())), rows, Own("columns"), has_items_ ? ", " + Own("whole") : "");
  };
  const std::string columns = Extent(has_items_ ? names_.items : "", 0);
  std::string text;
  for (const int buffer : found_.buffers)
    text += fmt::format("{} {}[{}]{}[{}];\n", TypeOf(buffer), Window(buffer), kept,
                        has_rows() ? fmt::format("[{}]", Extent(names_.rows, 1)) : "", columns);
  text += fmt::format("#pragma unroll\nfor (int k = 1; k < {}; ++k) {{\n", kept);
  for (const int buffer : found_.buffers) text += "  " + load(buffer, "k", StencilSum(first + " + k", found_.lowest[last()] - 1));
  text += fmt::format("}}\n#pragma unroll {0}\nfor (int {1} = {2}; {1} < {3}; ++{1}) {{\n", kept, z, first, Own("end"));
  text += fmt::format("#pragma unroll\n  for (int k = 1; k < {}; ++k) {{\n", kept);
  std::string indices = "[k]";
  std::string indent = "    ";
  if (has_rows()) {
    text += fmt::format("#pragma unroll\n    for (int i = 0; i < {}; ++i) {{\n", Extent(names_.rows, 1));
    indices += "[i]";
    indent += "  ";
  }
  text += fmt::format("#pragma unroll\n{}for (int j = 0; j < {}; ++j) {{\n", indent, columns);
  for (const int buffer : found_.buffers) {
    text += fmt::format("{}  {}[k - 1]{}[j] = {}{}[j];\n", indent, Window(buffer), has_rows() ? "[i]" : "", Window(buffer), indices);
  }
  text += indent + "}\n" + (has_rows() ? "    }\n" : "") + "  }\n";
  for (const int buffer : found_.buffers)
    text += "  " + load(buffer, kept + " - 1", StencilSum(fmt::format("{} + {}", z, kept), found_.lowest[last()] - 1));
  return text;
}

// What a thread has computed of a row.
std::string StencilWriter::Stores(const std::string& indent) const {
  const std::string to = Own("to"), x = First(0), e = Own("e");
  const std::int64_t low = found_.stores[0].low;
  std::string text = fmt::format("{}const {} {} = {};\n{}if ({}) {{\n", indent, Index(), to, Element(x, found_.wide), indent, Own("whole"));
  for (const int buffer : found_.stored)
    text += fmt::format("{0}  *reinterpret_cast<{1}<{2}>*>(&{3}[{4}]) = {5};\n", indent, Function("Items"), TypeOf(buffer),
                        tree_.node(buffer).name, to, Results(buffer));
  text += fmt::format("{0}}} else {{\n#pragma unroll\n{0}  for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, e, names_.items);
  std::string inside = fmt::format("{} + {} < {}", x, e, found_.stores[0].end.kernel);
  if (low > 0) inside = fmt::format("{} + {} >= {} && {}", x, e, low, inside);
  text += fmt::format("{}    if ({}) {{\n", indent, inside);
  for (const int buffer : found_.stored)
    text += fmt::format("{}      {}[{} + {}] = {}.values[{}];\n", indent, tree_.node(buffer).name, to, e, Results(buffer), e);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilWriter::Body() const {
  std::string indent = "  ";
  std::string text = Begin() + Statements(common_, "") + Loads();
  if (has_rows()) {
    const std::string r = Own("r");
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, names_.rows);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n{}if ({} >= {}) break;\n", indent, coordinates_[1], First(1), r, indent,
                        coordinates_[1], found_.stores[1].end.kernel);
  }
  if (has_items_) {
    const std::string e = Own("e"), row = indent;
    for (const int buffer : found_.stored)
      text += fmt::format("{}{}<{}> {};\n", row, Function("Items"), TypeOf(buffer), Results(buffer));
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", row, e, names_.items);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n", indent, coordinates_[0], First(0), e);
    if (found_.stores[0].low > 0) text += fmt::format("{}if ({} < {}) continue;\n", indent, coordinates_[0], found_.stores[0].low);
    text += fmt::format("{}if ({} >= {}) break;\n", indent, coordinates_[0], found_.stores[0].end.kernel);
    text += Statements(statements_, indent) + row + "}\n" + Stores(row);
  } else {
    text += Statements(statements_, indent);
  }
  text += has_rows() ? "  }\n}\n" : "}\n";
  return "{\n" + Indented(text) + "}";
}

}  // namespace evo
