#include "mutators/parallelism/stencils/stencil_layout.h"

#include <fmt/format.h>

namespace evo {
namespace {

// "width - 2" for "width - 1" and 1.
std::string Less(const std::string& text, std::int64_t less) {
  const std::size_t minus = text.rfind(" - ");
  if (minus != std::string::npos && text.find_first_not_of("0123456789", minus + 3) == std::string::npos)
    return fmt::format("{} - {}", text.substr(0, minus), std::stoll(text.substr(minus + 3)) + less);
  return fmt::format("{} - {}", text, less);
}

}  // namespace

StencilLayout::StencilLayout(const Stencil& found, const StencilNames& names, const StencilParameters& parameters, bool has_items,
                             bool is_staged)
    : found_(found), names_(names), parameters_(parameters), has_items_(has_items), is_staged_(is_staged) {}

std::string StencilLayout::Plain(const std::string& text) {
  const bool whole = text.starts_with('(') && text.find(')') == text.size() - 1;
  return whole ? text.substr(1, text.size() - 2) : text;
}

std::string StencilLayout::Sum(const std::string& text, std::int64_t more) {
  if (more == 0) return text;
  return fmt::format("{} {} {}", text, more < 0 ? "-" : "+", more < 0 ? -more : more);
}

// How many elements a thread needs along an axis, for `own` elements of its own.
std::string StencilLayout::Extent(const std::string& own, std::size_t axis) const {
  if (own.empty()) return std::to_string(1 + Span(axis));
  return Sum(own, Span(axis));
}

std::string StencilLayout::FromLow(const std::string& text, std::size_t axis, std::int64_t more) const {
  const Stencil::Range& stores = found_.stores[axis];
  if (stores.from.kernel.empty()) return Sum(text, stores.low + more);
  return Sum(fmt::format("{} + {}", text, stores.from.kernel), more);
}

std::string StencilLayout::TileRows() const {
  return Sum(fmt::format("{} * {}", parameters_.threads_y, parameters_.rows), Span(1));
}

std::string StencilLayout::Groups(std::int64_t columns) const {
  return columns < 2 ? std::to_string(columns) : fmt::format("({0} + {1}) / {1}", columns - 1, parameters_.items);
}

std::string StencilLayout::TileColumns() const {
  const std::int64_t left = -found_.lowest[0], right = found_.highest[0];
  const std::string own = fmt::format("({}", parameters_.threads_x);
  if (left < 2 && right < 2) return fmt::format("{}) * {}", Sum(own, left + right), parameters_.items);
  const std::string more =
      left == right ? fmt::format("{} * 2", Groups(left)) : fmt::format("{} + {}", Groups(left), Groups(right));
  return fmt::format("{} + {}) * {}", own, more, parameters_.items);
}

std::string StencilLayout::Copies() const {
  const std::int64_t more = Span(1);
  if (more == 0) return parameters_.rows;
  return fmt::format("{0} + ({1} + {2}) / {2}", parameters_.rows, more - 1, parameters_.threads_y);
}

std::string StencilLayout::Wrapped(const std::string& coordinate, std::size_t axis, const std::string& end) const {
  return fmt::format("{}({}, {}, {})", names_.Function("Wrapped"), coordinate, found_.reads[axis].Low(), end);
}

std::string StencilLayout::Existing(const std::string& coordinate, std::size_t axis) const {
  const Stencil::Range& range = found_.reads[axis];
  if (found_.periodic[axis]) return Wrapped(coordinate, axis, Plain(range.end.kernel));
  return fmt::format("min(max({}, {}), {})", coordinate, range.Low(), Less(Plain(range.end.kernel), 1));
}

std::string StencilLayout::Line(const std::string& coordinate) const {
  const std::string cast = found_.wide ? "(long long)" : "";
  std::string text = fmt::format("{}{} * {}", cast, coordinate, found_.lengths[0].kernel);
  if (has_rows()) text += fmt::format(" * {}", found_.lengths[1].kernel);
  return text;
}

std::string StencilLayout::Element(const std::string& x) const {
  if (found_.IsLine()) return x;
  const std::string cast = found_.wide ? "(long long)" : "";
  if (!has_rows()) return fmt::format("{}{} * {} + {}", cast, names_.Coordinate(1), found_.lengths[0].kernel, x);
  return fmt::format("({}{} * {} + {}) * {} + {}", cast, names_.Coordinate(2), found_.lengths[1].kernel, names_.Coordinate(1),
                     found_.lengths[0].kernel, x);
}

std::string StencilLayout::NumberOfStored() const {
  std::string number;
  for (std::size_t axis = found_.IsLine() ? 1 : found_.dimensions; axis-- > 0;) {
    const Stencil::Range& stores = found_.stores[axis];
    const std::string begun = stores.from.kernel, coordinate = names_.Coordinate(axis);
    const std::string own = begun.empty() ? Sum(coordinate, -stores.low) : fmt::format("{} - {}", coordinate, begun);
    const std::string extent = stores.BeginsAtZero() ? End(axis)
                               : begun.empty()       ? Less(End(axis), stores.low)
                                                     : fmt::format("{} - {}", End(axis), begun);
    if (number.empty())
      number = fmt::format("{}({})", found_.wide ? "(long long)" : "", own);
    else
      number = fmt::format("({}) * ({}) + {}", number, extent, own);
  }
  return number;
}

std::string StencilLayout::Grid() const {
  const auto extent = [&](std::size_t axis) {
    const Stencil::Range& range = found_.stores[axis];
    // Items begin at 0, so that they are aligned.
    const bool whole = range.BeginsAtZero() || (axis == 0 && has_items_);
    const std::string end = Plain(range.end.launch);
    const std::string text = whole                       ? end
                             : range.from.launch.empty() ? Less(end, range.low)
                                                         : fmt::format("{} - {}", end, range.from.launch);
    // The parent's launch may have a block even where nothing is stored.
    return text.find(" - ") == std::string::npos ? text : fmt::format("max({}, 1)", text);
  };
  const std::string x = has_items_ ? fmt::format("{} * {}", parameters_.threads_x, parameters_.items) : parameters_.threads_x;
  std::string grid = fmt::format("ceil_div({}, {})", extent(0), x);
  if (found_.IsLine()) return grid;
  if (has_rows()) grid += fmt::format(", ceil_div({}, {} * {})", extent(1), parameters_.threads_y, parameters_.rows);
  return grid + fmt::format(", ceil_div({}, {})", extent(last()), parameters_.steps);
}

std::string StencilLayout::Block() const {
  return has_rows() ? fmt::format("{}, {}", parameters_.threads_x, parameters_.threads_y) : parameters_.threads_x;
}

std::string StencilLayout::Registers() const {
  if (found_.IsLine()) return fmt::format("({}) * {}", Columns(), found_.buffers.size());
  std::string text = is_staged_ ? std::to_string(Depth()) : fmt::format("({} + {})", parameters_.ahead, Depth());
  if (has_rows()) text += fmt::format(" * ({})", Rows());
  const std::string columns = Columns();
  text += has_items_ ? fmt::format(" * ({})", columns) : " * " + columns;
  return found_.buffers.size() == 1 ? text : fmt::format("{} * {}", text, found_.buffers.size());
}

}  // namespace evo
