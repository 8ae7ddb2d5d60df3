#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/thread_runs/element_grid.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel whose threads each sum up a window of rows around an element of their own, in loops whose outer one counts how far a
// row is away:
//   for (int i = -R; i <= R; ++i) for (int j = -R; j <= R; ++j) if (..) { sum += in[(row + i) * width + column + j]; ++count; }
// What the inner loop adds is that of the row `row + i`, whichever the thread's own row is: nothing else in it depends on either.
struct WindowSums {
  ElementGrid grid;
  std::size_t row = 0;               // the index, of the grid's two, that goes along the rows
  CountedLoop loop;                  // the outer one
  std::vector<int> sums;             // variables that are zero before the loop, and to which it only adds
  std::string window;                // how many rows there are, as the kernel says it
  std::string launched;              // and as the launch line does
  std::optional<std::int64_t> rows;  // and as a number, if it is one
  std::vector<int> common;           // DeclStmts before the loop that do not depend on the row
  std::vector<int> of_row;           // those that do, and those of the sums
  std::vector<int> after;            // what follows the loop
  std::vector<int> third;            // uses of threadIdx.z, which is the same as blockIdx.z would be in a grid of as many blocks
  Parameters parameters;             // the only values for which this was shown

  // The loop's start taken away: " + R" for `-R`.
  std::string LessStart(const SyntaxTree& tree) const;
  const ElementGrid::Index& Row() const { return grid.indices[row]; }
  const ElementGrid::Index& Column() const { return grid.indices[1 - row]; }
};

// The kernel as one that sums up a window. Else why it is none; empty if nobody would take it for one.
std::variant<WindowSums, std::string> AsWindowSums(const MutationContext& context, int kernel);

}  // namespace evo
