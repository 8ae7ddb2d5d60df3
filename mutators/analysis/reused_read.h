#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/block_uniform.h"
#include "mutators/analysis/counted_loop.h"

namespace evo {

// What several threads of a block read from global memory in each iteration of a loop: an element, or a row that a device
// function is handed a pointer to. Where it lies depends on the loop's counter, on inner counters that run from 0 to a constant,
// on at most one dimension of the thread's index (another has the threads that share it), and otherwise on what the block has in
// common.
struct ReusedRead {
  std::vector<int> places;  // nodes of the same spelling: `a[k]`, or the argument
  std::string type;         // of an element
  bool is_row = false;
  std::string row_length;          // elements that the function reads, as spelled
  std::vector<CountedLoop> inner;  // outermost first
  int axis = -1;                   // of the thread's index; -1 if it does not matter
  std::vector<int> variables;  // declarations that the place is made of, to be declared anew for another place; in source order
  int fastest = 0;             // what moves to the neighbouring element: 0 the counter, 1 the axis, 2 + i an inner counter
};

// Those of a loop's body that every iteration reads.
std::vector<ReusedRead> ReusedReads(const MutationContext& context, const BlockUniform& uniform, const CountedLoop& loop,
                                    const LaunchDirective& launch);

}  // namespace evo
