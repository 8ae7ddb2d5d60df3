#include "mutators/parallelism/stencils/stencil_begin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace evo {
namespace {

// "1 + first" for elements that do not begin at 0.
std::string FromLow(const Stencil::Range& range, const std::string& text) {
  return range.BeginsAtZero() ? text : fmt::format("{} + {}", range.Low(), text);
}

}  // namespace

// That all items of a thread lie within a range of columns.
std::vector<std::string> StencilBegin::Within(const Stencil::Range& range) const {
  const std::string x = names_.First(0);
  std::vector<std::string> parts;
  if (!range.BeginsAtZero()) parts.push_back(fmt::format("{} >= {}", x, range.Low()));
  parts.push_back(fmt::format("{} + {} <= {}", x, parameters_.items, StencilLayout::Plain(range.end.kernel)));
  return parts;
}

// Whether planes come through shared memory with columns that are not stored, so that more threads copy their items at once than
// store them at once.
bool StencilBegin::ReadsMoreColumns() const {
  const Stencil::Range &stores = found_.stores[0], &reads = found_.reads[0];
  return layout_.is_staged() && (!stores.BeginsAs(reads) || stores.end.kernel != reads.end.kernel);
}

// Whether all items of a thread lie within the grid, at addresses at which they can move at once.
std::string StencilBegin::Whole() const {
  std::vector<std::string> parts = Within(ReadsMoreColumns() ? found_.reads[0] : found_.stores[0]);
  if (!found_.IsLine()) parts.push_back(fmt::format("{} % {} == 0", found_.lengths[0].kernel, parameters_.items));
  for (const auto* buffers : {&found_.buffers, &found_.stored}) {
    for (const int buffer : *buffers)
      parts.push_back(fmt::format("reinterpret_cast<unsigned long long>({}) % sizeof({}<{}>) == 0", tree_.node(buffer).name,
                                  names_.Function("Items"), names_.TypeOf(buffer)));
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

std::string StencilBegin::Coordinates() const {
  const std::string x = layout_.has_items() ? names_.First(0) : names_.Coordinate(0);
  const std::string first = names_.First(layout_.last());
  const std::string thread = fmt::format("blockIdx.x * {} + threadIdx.x", parameters_.threads_x);
  std::string text;
  for (const Stencil::Number& whole : found_.whole_blocks) {
    if (text.empty()) text = "// Elements beyond the last whole block would not be stored.\n";
    text += fmt::format("if ({} % ({}) != 0) __trap();\n", whole.kernel, whole.launch);
  }
  text +=
      fmt::format("const int {} = {};\n", x,
                  layout_.has_items() ? fmt::format("({}) * {}", thread, parameters_.items) : FromLow(found_.stores[0], thread));
  if (layout_.has_rows())
    text += fmt::format(
        "const int {} = {};\n", names_.First(1),
        FromLow(found_.stores[1], fmt::format("(blockIdx.y * {} + threadIdx.y) * {}", parameters_.threads_y, parameters_.rows)));
  if (found_.IsLine()) return text;
  text += fmt::format(
      "const int {} = {};\n", first,
      FromLow(found_.stores[layout_.last()], fmt::format("blockIdx.{} * {}", layout_.has_rows() ? 'z' : 'y', parameters_.steps)));
  return text + fmt::format("const int {} = min({} + {}, {});\n", names_.Own("end"), first, parameters_.steps,
                            layout_.End(layout_.last()));
}

std::string StencilBegin::Wholeness() const {
  std::string text = "// Whether the thread's elements move at once: all of them exist, at addresses that allow it.\n";
  text += fmt::format("const bool {} = {};\n", names_.Own("whole"), Whole());
  if (ReadsMoreColumns())
    text += fmt::format("const bool {} = {} && {};\n", names_.Own("stored"), names_.Own("whole"),
                        fmt::join(Within(found_.stores[0]), " && "));
  return text;
}

}  // namespace evo
