#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/stencils/stencil.h"

namespace evo {

// Where an element is along each axis of a stencil.
using StencilPlace = std::array<std::int64_t, 3>;

// The places from `low` to before `end`.
struct StencilBox {
  bool IsEmpty() const { return Volume() == 0; }
  std::int64_t Volume() const;
  // Grows until it contains the place.
  void Add(const StencilPlace& place);
  bool operator==(const StencilBox&) const = default;

  StencilPlace low{}, end{};
};

// What two launches have as boxes, along one axis. nullopt if it begins elsewhere in the second one, or does not end at a
// parameter of the kernel or near one.
std::optional<Stencil::Range> StencilRangeOf(const LaunchNumbers& numbers, const std::array<StencilBox, 2>& boxes,
                                             std::size_t axis, bool line = false);

}  // namespace evo
