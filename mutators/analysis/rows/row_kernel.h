#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/rows/shared_loop.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {

// A kernel in which every thread works alone on one row: `row = blockIdx.x * BLOCK + threadIdx.x`, or the same along y in a grid
// that has nothing along other axes. If all threads of a warp or block work on the same row and share its loops, only the order
// of sums changes.
struct RowKernel {
  ThreadIndex index;
  std::vector<SharedLoop> loops;      // in source order, none within another; at least one loop
  std::vector<int> stores;            // statements outside of the loops that one thread must execute
  std::vector<int> atomics;           // the same: additions and the like to what the kernel uses for nothing else
  bool reads_what_it_stores = false;  // through a kernel parameter
};

// The row kernels of the file. A kernel is listed once for each way to pick its loops.
std::vector<RowKernel> RowKernels(const MutationContext& context);

// Why kernels with loops, each thread of which works on an element of its own, are none; one line each.
std::vector<std::string> RowRefusals(const MutationContext& context);

// The threads of a block along x, also of a kernel whose rows are along y and will be along x.
std::string RowExtent(const SyntaxTree& tree, const RowKernel& kernel);
// The change of the launch's grid or block along x.
LaunchChange RowDimension(const RowKernel& kernel, std::string_view field, const std::string& text);

// A change that leaves a store to the first thread.
Proposal::Change StoreOnce(const SyntaxTree& tree, int store, const RowThreads& threads);
}  // namespace evo
