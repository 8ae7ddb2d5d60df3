#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace evo {

// Which threads of a block, its lanes, take part: not zero for those.
using LaneMask = std::vector<char>;
inline constexpr std::size_t kWarpLanes = 32;

inline bool AnyLane(const LaneMask& mask) { return std::find(mask.begin(), mask.end(), 1) != mask.end(); }

inline bool AnyLaneOfWarp(const LaneMask& mask, std::size_t warp) {
  const std::size_t end = std::min(mask.size(), (warp + 1) * kWarpLanes);
  for (std::size_t lane = warp * kWarpLanes; lane < end; ++lane) {
    if (mask[lane]) return true;
  }
  return false;
}

// The lanes of a mask that are not in another.
inline LaneMask Without(const LaneMask& mask, const LaneMask& others) {
  LaneMask rest = mask;
  for (std::size_t lane = 0; lane < rest.size(); ++lane) rest[lane] = mask[lane] && !others[lane];
  return rest;
}

}  // namespace evo
