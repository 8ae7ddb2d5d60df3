#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A kernel whose threads each compute one element of a grid of two dimensions: `row = blockIdx.y * E + threadIdx.y`, `column`
// likewise, behind a guard `if (row >= rows || column >= columns) return;` or within `if (row < rows && column < columns)`. Or
// one index i of which `i / columns` and `i % columns` are the two.
struct ElementGrid {
  struct Index {
    int declaration = -1;        // `row`
    int bound = -1;              // `rows`, an expression of the guard
    std::size_t axis = 0;        // of the launch's grid; with `flat`, 1 for the quotient and 0 for the remainder
    std::size_t block_axis = 0;  // of the launch's block; 0 with `flat`
  };
  int kernel = -1;
  const LaunchDirective* launch = nullptr;
  std::vector<Index> indices;   // two
  int flat = -1;                // declaration of i
  std::vector<int> before;      // DeclStmts before the guard, without those of the indices
  std::vector<int> statements;  // behind or within the guard, without those of the indices
};

// The kernel as such a grid, or why it is none, in words that follow "the kernel ... : ".
std::variant<ElementGrid, std::string> AsElementGrid(const MutationContext& context, int kernel);

}  // namespace evo
