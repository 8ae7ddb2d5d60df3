#include "kernel_templates/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

constexpr std::size_t kMostDimensions = 5;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 32;
constexpr std::int64_t kMostBox = 256;
// Rows, and the rows of a box, begin at multiples of this.
constexpr std::int64_t kRowBytes = 16;

std::vector<Expression> Values(const LaunchClause& clause, std::string_view text, std::size_t most) {
  std::vector<Expression> values;
  if (clause.inside) {
    for (const std::string& part : SplitAtCommas(clause.inside->Of(text))) values.push_back(Expression::Parse(part));
  }
  if (values.empty() || values.size() > most) {
    throw Error(most == 1 ? fmt::format("{}(..) takes one value, not {}", clause.name, values.size())
                          : fmt::format("{}(..) takes 1 to {} values, not {}", clause.name, most, values.size()));
  }
  return values;
}

}  // namespace

TensorMapDirective ParseTensorMap(std::string_view text) {
  TensorMapDirective map;
  const std::size_t equals = text.find('=');
  map.name = Trim(text.substr(0, equals));
  const std::string_view rest = equals == std::string_view::npos ? std::string_view() : Trim(text.substr(equals + 1));
  const std::size_t end = std::min(rest.find_first_of(" \t("), rest.size());
  map.buffer = rest.substr(0, end);
  if (!IsIdentifier(map.name) || !IsIdentifier(map.buffer)) throw Error("'NAME = BUFFER dims(..) box(..)' expected");
  for (const LaunchClause& clause : ParseClauses(rest, end)) {
    if (clause.name == "dims") {
      map.dims = Values(clause, rest, kMostDimensions);
    } else if (clause.name == "box") {
      map.box = Values(clause, rest, kMostDimensions);
    } else if (clause.name == "swizzle") {
      map.swizzle = Values(clause, rest, 1)[0];
    } else if (clause.name == "type") {
      const std::string_view dtype = clause.inside ? Trim(clause.inside->Of(rest)) : std::string_view();
      map.dtype = ParseDtype(dtype);
      if (!map.dtype) throw Error(fmt::format("no dtype '{}'", dtype));
    } else {
      throw Error(fmt::format("no clause '{}'; there are dims(..), box(..), swizzle(..), type(..)", clause.name));
    }
  }
  if (map.dims.empty() || map.box.size() != map.dims.size()) {
    throw Error(
        fmt::format("dims(..) and box(..) need equally many values, and they have {} and {}", map.dims.size(), map.box.size()));
  }
  return map;
}

TensorMapUse PlanTensorMap(const TensorMapDirective& map, Dtype dtype, std::int64_t elements, const Variables& variables) {
  const auto extent = [&](const Expression& expression, std::string_view what, std::int64_t most) {
    const std::int64_t value = expression.EvaluateInteger(variables);
    if (value < 1 || value > most)
      throw Error(fmt::format("{} '{}' is {}; it must be 1 to {}", what, expression.text(), value, most));
    return value;
  };
  TensorMapUse use{map.name, map.buffer, map.dtype.value_or(dtype), {}, {}, 0};
  const auto bytes = static_cast<std::int64_t>(ByteSize(use.dtype));
  std::int64_t left = elements * static_cast<std::int64_t>(ByteSize(dtype)) /
                      bytes;  // how often the extent of the dims so far fits into the buffer
  for (std::size_t i = 0; i < map.dims.size(); ++i) {
    const std::int64_t dim = extent(map.dims[i], "dims", kMostExtent);
    left /= dim;
    use.dims.push_back(static_cast<std::uint64_t>(dim));
    use.box.push_back(static_cast<std::uint32_t>(extent(map.box[i], "box", kMostBox)));
  }
  if (left == 0) throw Error(fmt::format("dims go past the {} elements of '{}'", elements, map.buffer));
  const auto row = static_cast<std::int64_t>(use.dims[0]) * bytes;
  if (use.dims.size() > 1 && row % kRowBytes != 0)
    throw Error(fmt::format("a row has {} bytes; it must be a multiple of {}", row, kRowBytes));
  const std::int64_t box_row = std::int64_t{use.box[0]} * bytes;
  if (box_row % kRowBytes != 0)
    throw Error(fmt::format("a row of the box has {} bytes; it must be a multiple of {}", box_row, kRowBytes));
  const std::int64_t swizzle = map.swizzle.EvaluateInteger(variables);
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) {
    throw Error(fmt::format("swizzle is {} bytes; it must be 0, 32, 64 or 128", swizzle));
  }
  if (swizzle != 0 && box_row > swizzle)
    throw Error(fmt::format("a row of the box has {} bytes, more than the swizzle's {}", box_row, swizzle));
  use.swizzle = static_cast<std::uint32_t>(swizzle);
  return use;
}

}  // namespace evo
