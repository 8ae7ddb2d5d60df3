#include "mutators/analysis/stencils/stencil_launch.h"

#include <algorithm>

namespace evo {

StencilPlace StencilLaunch::PlaceOf(std::int64_t element) const {
  if (line) return {element, 0, 0};
  const std::int64_t row = element / lengths[0];
  if (dimensions == 2) return {element % lengths[0], row, 0};
  return {element % lengths[0], row % lengths[1], row / lengths[1]};
}

bool StencilLaunch::IsInner(const StencilThread& thread) const {
  const StencilPlace place = PlaceOf(thread.element);
  const std::int64_t furthest = line ? kFurthestInLine : kFurthestNeighbour;
  for (std::size_t axis = 0; axis < (line ? 1 : dimensions); ++axis) {
    if (place[axis] - furthest < reads.low[axis] || place[axis] + furthest >= reads.end[axis]) return false;
  }
  return true;
}

std::int64_t StencilLaunch::Existing(std::int64_t coordinate, std::size_t axis) const {
  const std::int64_t low = reads.low[axis], count = reads.end[axis] - low;
  if (!periodic[axis]) return std::clamp(coordinate, low, low + count - 1);
  return low + ((coordinate - low) % count + count) % count;
}

std::int64_t StencilLaunch::ValueIn(const Stencil::Role& role, const StencilThread& thread) const {
  if (role.axis == Stencil::kElement) return thread.element + role.shift;
  const StencilPlace place = PlaceOf(thread.element);
  if (role.IsCoordinate()) return place[role.axis] + role.shift;
  std::int64_t number = 0;
  for (std::size_t axis = dimensions; axis-- > 0;)
    number = number * (stores.end[axis] - stores.low[axis]) + place[axis] - stores.low[axis];
  return number + role.shift;
}

}  // namespace evo
