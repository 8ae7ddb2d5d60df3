#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// A read from global memory that several threads of a block share in each iteration of a loop: of one element, or of a row to
// which a device function gets a pointer. Its address depends on the loop's counter, on inner counters that run from 0 to a
// constant, on at most one dimension of threadIdx (the threads along another dimension share the read), and otherwise only on
// values that are uniform in the block.
struct ReusedRead {
  std::vector<int> places;  // nodes with the same text: `a[k]`, or the argument
  std::string type;         // of an element
  bool is_row = false;
  std::string row_length;          // number of elements that the function reads, as spelled
  std::vector<CountedLoop> inner;  // outermost first
  int axis = -1;                   // dimension of threadIdx; -1 if the address does not depend on it
  std::vector<int> variables;      // that the address is computed from, to be declared again for another address; in source order
  int fastest = 0;                 // which index moves to the next element: 0 the counter, 1 the axis, 2 + i an inner counter
};

// The shared reads of a loop's body that every iteration makes.
std::vector<ReusedRead> ReusedReads(const MutationContext& context, const BlockUniform& uniform, const CountedLoop& loop,
                                    const LaunchDirective& launch);

}  // namespace evo
