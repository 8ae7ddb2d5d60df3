#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindReductions = ForeignKernelTest;

TEST_F(BlindReductions, ReduceGrid) {
  Check("reduce_grid",
        {{"01_nrm2_thread_atomics"},
         {"02_iamax_two_kernels"},
         {"03_mean_variance_last_block"},
         {"04_dot_half_block_atomics"},
         {"05_residual_of_grid"},
         {"06_max_by_compare_and_swap"},
         {"07_extent_of_points"}});
}

}  // namespace
}  // namespace evo
