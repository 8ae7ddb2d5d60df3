#include "mutators/analysis/stencils/stencil_box.h"

#include <algorithm>

#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {
namespace {

// The end of a box may be a parameter plus or minus this.
constexpr std::int64_t kMostAway = 2 * StencilLaunch::kFurthestNeighbour;
constexpr std::int64_t kMostAwayInLine = 2 * StencilLaunch::kFurthestInLine;

}  // namespace

std::int64_t StencilBox::Volume() const {
  std::int64_t volume = 1;
  for (std::size_t axis = 0; axis < low.size(); ++axis) volume *= end[axis] - low[axis];
  return volume;
}

void StencilBox::Add(const StencilPlace& place) {
  const bool first = IsEmpty();
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    low[axis] = first ? place[axis] : std::min(low[axis], place[axis]);
    end[axis] = first ? place[axis] + 1 : std::max(end[axis], place[axis] + 1);
  }
}

std::optional<Stencil::Range> StencilRangeOf(const LaunchNumbers& numbers, const std::array<StencilBox, 2>& boxes,
                                             std::size_t axis, bool line) {
  const std::int64_t most = line ? kMostAwayInLine : kMostAway;
  const auto number = numbers.Find({boxes[0].end[axis], boxes[1].end[axis]}, most);
  if (!number) return std::nullopt;
  Stencil::Range range{boxes[0].low[axis], {number->kernel, number->launch}};
  if (boxes[0].low[axis] == boxes[1].low[axis]) return range;
  const auto from = numbers.Find({boxes[0].low[axis], boxes[1].low[axis]}, most);
  if (!from) return std::nullopt;
  range.low = 0;
  range.from = {from->kernel, from->launch};
  return range;
}

}  // namespace evo
