#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mutators/analysis/access_order.h"
#include "mutators/analysis/lane_mask.h"
#include "mutators/analysis/refusal.h"

namespace evo {

// What was reduced so far, as a sum of its elements' fingerprints.
struct Partial {
  std::uint64_t elements = 0;
  std::int64_t count = 0;
  bool defined = false;
  bool initial = false;  // whether a constant is in it
};
// Of each thread of a block.
using Partials = std::vector<Partial>;

// Two partial results together. One that was never stored is refused.
Partial Together(const Partial& a, const Partial& b, Refusal& refusal);

// An element of an array in shared memory for each thread, or a variable there.
struct SharedPlace {
  int array = -1;  // its declaration
  std::string_view name;
  std::vector<std::int64_t> index;
};

// The partial results that a block has in shared memory. A race is refused, and so is an index that no array has.
class SharedPartials {
 public:
  // The refusal outlives the object.
  SharedPartials(std::size_t lanes, Refusal& refusal);

  // All threads are at a barrier.
  void PassBarrier() { order_.PassBarrier(); }
  // All lanes of a warp are at `__syncwarp`.
  void PassWarpBarrier(std::size_t warp) { order_.PassWarpBarrier(warp); }
  Partials Read(const SharedPlace& place, const LaneMask& mask);
  void Write(const SharedPlace& place, const Partials& values, const LaneMask& mask);
  // Adds the values of threads by atomics, one after another.
  void Add(const SharedPlace& place, const Partials& values, const LaneMask& mask);

 private:
  struct Cell {
    Partial value;
    ElementAccesses accesses;
  };
  Cell* CellAt(const SharedPlace& place, std::size_t lane);

  Refusal& refusal_;
  AccessOrder order_;
  std::map<int, std::vector<Cell>> arrays_;
};

}  // namespace evo
