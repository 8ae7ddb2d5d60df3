#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since.
using BlindProducts = ForeignKernelTest;

TEST_F(BlindProducts, TileContraction) {
  Check("tile_contraction",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

TEST_F(BlindProducts, SplitKTile) {
  Check("split_k_tile",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

TEST_F(BlindProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

TEST_F(BlindProducts, TensorContraction) {
  Check("tensor_contraction",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

TEST_F(BlindProducts, IntegerTensorContraction) {
  Check("integer_tensor_contraction",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

TEST_F(BlindProducts, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp",
        {{"01_scaled_in_place", "?"},
         {"02_linear_backward", "?"},
         {"03_strided_batches_half", "?"},
         {"04_thread_coarsening", "?"},
         {"05_w8a8_dp4a", "?"},
         {"06_four_indices", "?"},
         {"07_triangular", "?"}});
}

}  // namespace
}  // namespace evo
