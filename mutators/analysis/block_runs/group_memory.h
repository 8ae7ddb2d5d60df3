#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mutators/analysis/numbers/access_order.h"
#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_numbers.h"
#include "syntax/syntax_tree.h"

namespace evo {

// An element of an array in shared memory for each thread, or a variable there.
struct GroupPlace {
  int array = -1;
  std::vector<std::int64_t> index;
};

// The numbers that a group of threads has in shared memory. A race is refused, and so is an index that no array has.
class GroupMemory {
 public:
  // The tree and the refusal outlive the object.
  GroupMemory(const SyntaxTree& tree, const GroupNumbers& make, Refusal& refusal);

  // All threads are at a barrier; all lanes of a warp are at `__syncwarp`.
  void PassBarrier() { order_.PassBarrier(); }
  void PassWarpBarrier(std::size_t warp) { order_.PassWarpBarrier(warp); }
  // What is there; `reads`: the threads read it now.
  ThreadNumbers Load(const GroupPlace& place, const LaneMask& mask, bool reads);
  void Store(const GroupPlace& place, const ThreadNumbers& values, const LaneMask& mask);
  // Combines by "+", "max" or "min", one thread after another.
  void Combine(const GroupPlace& place, std::string_view combine, const ThreadNumbers& values, const LaneMask& mask);

 private:
  struct Cell {
    double number = 0;
    bool known = false;
    std::vector<std::uint64_t> of;
    ElementAccesses accesses;
  };
  Cell* CellAt(const GroupPlace& place, std::size_t lane);

  const SyntaxTree& tree_;
  GroupNumbers make_;
  Refusal& refusal_;
  AccessOrder order_;
  std::map<int, std::vector<Cell>> arrays_;
};

}  // namespace evo
