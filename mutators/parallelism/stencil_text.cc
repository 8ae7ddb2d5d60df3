// The loops in which a stencil's threads walk along the last axis.
#include <fmt/format.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
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

// "width - 2" for "width - 1" and 1.
std::string Less(const std::string& text, std::int64_t less) {
  const std::size_t minus = text.rfind(" - ");
  if (minus != std::string::npos && text.find_first_not_of("0123456789", minus + 3) == std::string::npos)
    return fmt::format("{} - {}", text.substr(0, minus), std::stoll(text.substr(minus + 3)) + less);
  return fmt::format("{} - {}", text, less);
}

// "1 + first" for elements that do not begin at 0.
std::string FromLow(std::int64_t low, const std::string& text) { return low == 0 ? text : fmt::format("{} + {}", low, text); }

}  // namespace

// Without parentheses around all of it.
std::string StencilWriter::Plain(const std::string& text) {
  const bool whole = text.starts_with('(') && text.find(')') == text.size() - 1;
  return whole ? text.substr(1, text.size() - 2) : text;
}

std::string StencilWriter::Window(int buffer) const {
  return found_.buffers.size() == 1 ? Own("around") : Own("around_" + tree_.node(buffer).name);
}

std::string StencilWriter::Results(int buffer) const {
  return found_.stored.size() == 1 ? Own("results") : Own("results_" + tree_.node(buffer).name);
}

// The neighbour in the thread's registers.
std::string StencilWriter::Place(const Stencil::Site& site) const {
  const auto along = [&](const std::string& own, std::size_t axis) {
    const Stencil::Offset& offset = site.offsets[axis];
    std::string text = own;
    for (const auto& [counter, factor] : offset.factors) {
      const std::string times = std::abs(factor) == 1 ? "" : fmt::format("{} * ", std::abs(factor));
      const char* const sign = text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
      text += fmt::format("{}{}{}", sign, times, tree_.node(counter).name);
    }
    const std::int64_t constant = offset.constant - found_.lowest[axis];
    if (text.empty()) return std::to_string(constant);
    return constant == 0 ? text : fmt::format("{} {} {}", text, constant < 0 ? "-" : "+", std::abs(constant));
  };
  std::string text = fmt::format("{}[{}]", Window(site.buffer), along("", last()));
  if (has_rows()) text += fmt::format("[{}]", along(Own("r"), 1));
  return text + fmt::format("[{}]", along(has_items_ ? Own("e") : "", 0));
}

// A counter for a loop that names coordinates and sizes.
std::string StencilWriter::Counter(const char* wanted) const {
  const SyntaxNode& kernel = tree_.node(found_.kernel);
  std::string taken(tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}));
  for (const std::string& coordinate : coordinates_) taken += " " + coordinate;
  return UnusedName(taken, wanted);
}

// How many elements a thread needs along an axis, for `own` elements of its own.
std::string StencilWriter::Extent(const std::string& own, std::size_t axis) const {
  if (own.empty()) return std::to_string(1 + Span(axis));
  return StencilSum(own, Span(axis));
}

// A coordinate, past an edge that of the nearest element.
std::string StencilWriter::Clamped(const std::string& coordinate, std::size_t axis) const {
  const Stencil::Range& range = found_.reads[axis];
  return fmt::format("min(max({}, {}), {})", coordinate, range.low, Less(Plain(range.end.kernel), 1));
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
    const std::string text = whole ? Plain(range.end.launch) : Less(Plain(range.end.launch), range.low);
    // The parent's launch may have a block even where nothing is stored.
    return text.find(" - ") == std::string::npos ? text : fmt::format("max({}, 1)", text);
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
  const std::string columns = Extent(has_items_ ? names_.items : "", 0);
  text += has_items_ ? fmt::format(" * ({})", columns) : " * " + columns;
  return found_.buffers.size() == 1 ? text : fmt::format("{} * {}", text, found_.buffers.size());
}

std::string StencilWriter::Functions() const {
  // The line before the kernel belongs to it, such as its launch line.
  const std::size_t line = tree_.text().rfind('\n', tree_.node(found_.kernel).range.begin) + 1;
  std::string text = line < 2 || tree_.text()[line - 2] == '\n' ? "" : "\n";
  if (has_items_) {
    text += fmt::format(
        "// Neighbouring elements that move at once.\n"
        "template <typename {2}> struct alignas({0} * sizeof({2})) {1} {{\n"
        "  {2} values[{0}];\n"
        "}};\n\n",
        names_.items, Function("Items"), Function("Type"));
  }
  const std::string columns = Extent(has_items_ ? names_.items : "", 0), rows = Extent(names_.rows, 1);
  std::vector<std::string> types;
  for (const int buffer : found_.buffers) {
    const std::string type = TypeOf(buffer);
    if (std::find(types.begin(), types.end(), type) != types.end()) continue;
    types.push_back(type);
    text += fmt::format("// Loads what a thread at column `x` needs of a {}; past an edge the nearest element.\n",
                        has_rows() ? "plane" : "row");
    text += fmt::format("__device__ __forceinline__ void {}({} (&to){}[{}], const {}* from,\n    {}int x, int end{}) {{\n",
                        Function("LoadAround"), type, has_rows() ? fmt::format("[{}]", rows) : "", columns, type,
                        has_rows() ? fmt::format("const {} (&rows)[{}], ", Index(), rows) : "", has_items_ ? ", bool whole" : "");
    std::string body = RowLoads(buffer, has_rows() ? "own" : "from", has_rows() ? "to[i]" : "to");
    if (has_rows())
      body = fmt::format("#pragma unroll\nfor (int i = 0; i < {}; ++i) {{\n  const {}* own = from + rows[i];\n{}}}\n", rows, type,
                         Indented(body));
    text += Indented(body) + "}\n\n";
  }
  return text;
}

// How a thread loads its own elements of a row, which begin at the pointer `own`, and those beside them.
std::string StencilWriter::RowLoads(int buffer, const std::string& own, const std::string& to) const {
  const std::string type = TypeOf(buffer);
  const std::int64_t left = -found_.lowest[0], right = found_.highest[0], low = found_.reads[0].low;
  const auto load = [&](const std::string& place) {
    return IsLoadable(PointedTo(tree_, buffer)) ? fmt::format("__ldg(&{}[{}])", own, place) : fmt::format("{}[{}]", own, place);
  };
  std::string text;
  if (has_items_) {
    text += fmt::format(
        "if (whole) {{\n"
        "  const {0}<{1}> items = *reinterpret_cast<const {0}<{1}>*>({2});\n"
        "#pragma unroll\n"
        "  for (int e = 0; e < {3}; ++e) {4}[{5}] = items.values[e];\n"
        "}} else {{\n"
        "#pragma unroll\n"
        "  for (int e = 0; e < {3}; ++e) {4}[{5}] = {6};\n"
        "}}\n",
        Function("Items"), type, own, names_.items, to, StencilSum("e", left),
        load(fmt::format("min(max(x + e, {}), end - 1) - x", low)));
  } else {
    text += fmt::format("{}[{}] = {};\n", to, left, load("0"));
  }
  const std::string items = has_items_ ? names_.items : "1";
  const std::string beyond = has_items_ ? StencilSum(items, left) : std::to_string(1 + left);
  if (left == 1)
    text += fmt::format("{0}[0] = x > {1} ? {2} : {0}[1];\n", to, low, load("-1"));
  else if (left > 1)
    text += fmt::format("#pragma unroll\nfor (int j = {1}; j >= 0; --j) {0}[j] = x + j >= {2} ? {3} : {0}[j + 1];\n", to,
                        left - 1, left + low, load(fmt::format("j - {}", left)));
  if (right == 1)
    text += fmt::format("{0}[{1}] = x + {2} < end ? {3} : {0}[{4}];\n", to, beyond, items, load(items),
                        has_items_ ? StencilSum(items, left - 1) : std::to_string(left));
  else if (right > 1)
    text += fmt::format("#pragma unroll\nfor (int j = {1}; j < {2}; ++j) {0}[j] = {3} < end ? {4} : {0}[j - 1];\n", to, beyond,
                        Extent(has_items_ ? items : "", 0), StencilSum("x + j", -left), load(StencilSum("j", -left)));
  return text;
}

// Whether all items of a thread lie within the grid, at addresses at which they can move at once.
std::string StencilWriter::Whole() const {
  const std::string x = First(0);
  std::vector<std::string> parts;
  const std::int64_t low = std::max(found_.stores[0].low, found_.reads[0].low);
  if (low > 0) parts.push_back(fmt::format("{} >= {}", x, low));
  parts.push_back(fmt::format("{} + {} <= {}", x, names_.items, Plain(found_.stores[0].end.kernel)));
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
      text += " &&\n                   " + part;
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
  line(fmt::format(
      "// A block walks through {} {}s. Its threads keep what they still need of {} of them in registers, and load one",
      names_.steps, plane, 1 + Span(last())));
  line(fmt::format("// {} in each step, {} steps before it is needed.", plane, names_.ahead));
  line(fmt::format("constexpr int {} = {};", Own("kKept"), StencilSum(names_.ahead, 1 + Span(last()))));
  const std::string thread = fmt::format("blockIdx.x * {} + threadIdx.x", names_.threads_x);
  line(fmt::format("const int {} = {};", x,
                   has_items_ ? fmt::format("({}) * {}", thread, names_.items) : FromLow(found_.stores[0].low, thread)));
  if (has_rows())
    line(fmt::format(
        "const int {} = {};", First(1),
        FromLow(found_.stores[1].low, fmt::format("(blockIdx.y * {} + threadIdx.y) * {}", names_.threads_y, names_.rows))));
  line(fmt::format("const int {} = {};", first,
                   FromLow(found_.stores[last()].low, fmt::format("blockIdx.{} * {}", has_rows() ? 'z' : 'y', names_.steps))));
  line(fmt::format("const int {} = min({} + {}, {});", end, first, names_.steps, Plain(found_.stores[last()].end.kernel)));
  std::string outside = fmt::format("{} >= {}", x, Plain(found_.stores[0].end.kernel));
  if (has_rows()) outside += fmt::format(" || {} >= {}", First(1), Plain(found_.stores[1].end.kernel));
  line(fmt::format("if ({}) return;", outside));
  if (has_items_) {
    line("// Whether the thread's elements move at once: all of them exist, at addresses that allow it.");
    line(fmt::format("const bool {} = {};", Own("whole"), Whole()));
  }
  const std::string i = Counter("i");
  if (has_rows()) {
    line(fmt::format("{} {}[{}];", Index(), Own("rows"), Extent(names_.rows, 1)));
    line("#pragma unroll");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}{4} * {5} + {6};", i, Extent(names_.rows, 1), Own("rows"),
                     found_.wide ? "(long long)" : "", Clamped(StencilSum(First(1) + " + " + i, found_.lowest[1]), 1),
                     found_.lengths[0].kernel, x));
  }
  return text;
}

std::string StencilWriter::Loads() const {
  const std::string first = First(last()), kept = Own("kKept"), z = coordinates_[last()];
  const std::string rows = has_rows() ? Own("rows") + ", " : "", i = Counter("i"), j = Counter("j"), k = Counter("k");
  const std::string own = has_items_ ? First(0) : coordinates_[0];
  const std::string x = fmt::format("{}, {}", own, Plain(found_.reads[0].end.kernel));
  const auto load = [&](int buffer, const std::string& to, const std::string& coordinate) {
    return fmt::format("{}({}[{}], {} + {}{}, {}{}{});\n", Function("LoadAround"), Window(buffer), to, tree_.node(buffer).name,
                       Line(Clamped(coordinate, last())), has_rows() ? "" : " + " + own, rows, x,
                       has_items_ ? ", " + Own("whole") : "");
  };
  const std::string columns = Extent(has_items_ ? names_.items : "", 0);
  std::string text;
  for (const int buffer : found_.buffers)
    text += fmt::format("{} {}[{}]{}[{}];\n", TypeOf(buffer), Window(buffer), kept,
                        has_rows() ? fmt::format("[{}]", Extent(names_.rows, 1)) : "", columns);
  text += fmt::format("#pragma unroll\nfor (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  for (const int buffer : found_.buffers)
    text += "  " + load(buffer, k, StencilSum(first + " + " + k, found_.lowest[last()] - 1));
  text += fmt::format("}}\n#pragma unroll {0}\nfor (int {1} = {2}; {1} < {3}; ++{1}) {{\n", kept, z, first, Own("end"));
  text += fmt::format("#pragma unroll\n  for (int {0} = 1; {0} < {1}; ++{0}) {{\n", k, kept);
  std::string indices = has_rows() ? fmt::format("[{}]", i) : "";
  std::string indent = "    ";
  if (has_rows()) {
    text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", i, Extent(names_.rows, 1));
    indent += "  ";
  }
  text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, j, columns);
  for (const int buffer : found_.buffers) {
    text += fmt::format("{0}  {1}[{2} - 1]{3}[{4}] = {1}[{2}]{3}[{4}];\n", indent, Window(buffer), k, indices, j);
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
  std::string text =
      fmt::format("{}const {} {} = {};\n{}if ({}) {{\n", indent, Index(), to, Element(x, found_.wide), indent, Own("whole"));
  for (const int buffer : found_.stored)
    text += fmt::format("{0}  *reinterpret_cast<{1}<{2}>*>(&{3}[{4}]) = {5};\n", indent, Function("Items"), TypeOf(buffer),
                        tree_.node(buffer).name, to, Results(buffer));
  text += fmt::format("{0}}} else {{\n#pragma unroll\n{0}  for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, e, names_.items);
  std::string inside = fmt::format("{} + {} < {}", x, e, Plain(found_.stores[0].end.kernel));
  if (low > 0) inside = fmt::format("{} + {} >= {} && {}", x, e, low, inside);
  text += fmt::format("{}    if ({}) {{\n", indent, inside);
  for (const int buffer : found_.stored)
    text += fmt::format("{}      {}[{} + {}] = {}.values[{}];\n", indent, tree_.node(buffer).name, to, e, Results(buffer), e);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilWriter::Body() const {
  std::string indent = "  ";
  std::string text = Begin() + Statements(common_, "") + Tables() + Loads();
  if (has_rows()) {
    const std::string r = Own("r");
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, names_.rows);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n{}if ({} >= {}) break;\n", indent, coordinates_[1], First(1), r, indent,
                        coordinates_[1], Plain(found_.stores[1].end.kernel));
  }
  if (has_items_) {
    const std::string e = Own("e"), row = indent;
    for (const int buffer : found_.stored)
      text += fmt::format("{}{}<{}> {};\n", row, Function("Items"), TypeOf(buffer), Results(buffer));
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", row, e, names_.items);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n", indent, coordinates_[0], First(0), e);
    // What lies outside is not stored: a thread that only computes may do so there.
    if (of_elements_only_ && found_.stores[0].low > 0)
      text += fmt::format("{}if ({} < {}) continue;\n", indent, coordinates_[0], found_.stores[0].low);
    if (of_elements_only_)
      text += fmt::format("{}if ({} >= {}) break;\n", indent, coordinates_[0], Plain(found_.stores[0].end.kernel));
    text += Statements(statements_, indent) + row + "}\n" + Stores(row);
  } else {
    text += Statements(statements_, indent);
  }
  text += has_rows() ? "  }\n}\n" : "}\n";
  return Finished("{\n" + Indented(text) + "}");
}

}  // namespace evo
