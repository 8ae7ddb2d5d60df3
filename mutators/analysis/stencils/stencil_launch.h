#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_box.h"

namespace evo {

// What a thread that stores an element did.
struct StencilThread {
  std::int64_t number = 0;             // among all of its launch
  std::int64_t element = 0;            // that it stored
  std::map<int, std::int64_t> values;  // of integers, by declaration
  std::vector<ThreadTrace::Touch> touches;
};

// A launch of a stencil, those of its threads that were run, and how its elements lie.
struct StencilLaunch {
  // How far a neighbour may be away along an axis.
  static constexpr std::int64_t kFurthestNeighbour = 4, kFurthestInLine = 12;

  StencilPlace PlaceOf(std::int64_t element) const;
  // Whether all neighbours of a thread's element are within `reads`.
  bool IsInner(const StencilThread& thread) const;
  // The coordinate of the element that is read for a neighbour, which may be past an edge.
  std::int64_t Existing(std::int64_t coordinate, std::size_t axis) const;
  // What a variable of this role is for a thread.
  std::int64_t ValueIn(const Stencil::Role& role, const StencilThread& thread) const;

  LaunchRuns::Setting setting;
  std::vector<StencilThread> threads;
  std::size_t dimensions = 2;
  bool line = false;                          // whether the second axis has one place (Stencil::IsLine)
  std::array<std::int64_t, 2> lengths{1, 1};  // elements from a row to the next; rows from a plane to the next
  StencilBox reads{{}, {1, 1, 1}};            // the elements that are read
  StencilBox stores{{}, {1, 1, 1}};           // and those that are stored
  std::array<bool, 3> periodic{};             // axes along which the other edge of `reads` follows an edge
};
// Two launches, the sizes of which differ.
using StencilLaunches = std::array<StencilLaunch, 2>;

}  // namespace evo
