#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/numbers/access_order.h"
#include "mutators/analysis/numbers/lane_mask.h"
#include "mutators/analysis/numbers/refusal.h"

namespace evo {

// What was reduced so far, as a sum of its elements' fingerprints. Sets have a bit for each member.
struct Partial {
  std::uint64_t elements = 0;
  std::int64_t count = 0;
  bool defined = false;
  std::uint32_t kinds = 0;     // of elements
  std::uint32_t combines = 0;  // how they were combined
  std::uint32_t types = 0;     // of variables and arrays that have held more than one element
  std::uint32_t initials = 0;  // constants that are in it
};
// What stands for one element in `elements`: a value of this kind, in a turn of the loops that all threads go through.
std::uint64_t ElementFingerprint(std::size_t kind, std::int64_t turn, std::int64_t number);
// Of each thread of a block.
using Partials = std::vector<Partial>;

// Two partial results combined in one way. One that was never stored is refused.
Partial Together(const Partial& a, const Partial& b, std::uint32_t combine, Refusal& refusal);

// A variable, or a member of one that is a struct.
struct PartialVariable {
  int declaration = -1;
  std::string member;
  auto operator<=>(const PartialVariable&) const = default;
};

// An element of an array in shared memory for each thread, or a variable there.
struct SharedPlace {
  PartialVariable array;
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
  void Add(const SharedPlace& place, const Partials& values, std::uint32_t combine, const LaneMask& mask);

 private:
  struct Cell {
    Partial value;
    ElementAccesses accesses;
  };
  Cell* CellAt(const SharedPlace& place, std::size_t lane);

  Refusal& refusal_;
  AccessOrder order_;
  std::map<PartialVariable, std::vector<Cell>> arrays_;
};

}  // namespace evo
