#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindReductions = ForeignKernelTest;

TEST_F(BlindReductions, ReduceGrid) {
  Check("reduce_grid",
        {{"01_nrm2_thread_atomics"},
         {"02_iamax_two_kernels", "amax_blocks: `i` is neither an element nor a combination of partial results"},
         {"03_mean_variance_last_block", "meanVariance: `v` is not a function of one index that every thread has its own of"},
         {"04_dot_half_block_atomics"},
         {"05_residual_of_grid", "residual_norm: its blocks have more than one dimension"},
         {"06_max_by_compare_and_swap"},
         {"07_extent_of_points", "extent_of_block: `lo_2.x` is not a function of one index that every thread has its own of"},
         // Written after the recognisers had been extended for those above.
         {"08_kinetic_energy"},
         {"09_image_squared_error", "squaredError: its blocks have more than one dimension"}});
}

}  // namespace
}  // namespace evo
