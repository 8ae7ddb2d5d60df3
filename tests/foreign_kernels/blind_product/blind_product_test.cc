#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since.
using BlindProducts = ForeignKernelTest;

TEST_F(BlindProducts, Run) { CheckParents(); }

TEST_F(BlindProducts, TileContraction) {
  Check("tile_contraction",
        {{"01_scaled_in_place",
          "gemm_kernel: no loop adds up anything in a variable that is declared before it; what it stores is no sum of products"},
         {"02_linear_backward"},
         {"03_strided_batches_half",
          "gemm_strided_batched: its threads work together already: barriers, shuffles, atomics or shared memory; `kTile`, which "
          "is not understood"},
         {"04_thread_coarsening"},
         {"05_w8a8_dp4a",
          "linear_w8a8: its threads have one index of the form blockIdx * size + threadIdx, and two are needed, or one of which "
          "/ and % make two; `reinterpret_cast<const int*>(x_row)`, which is not understood"},
         {"06_four_indices",
          "ladder: its threads have one index of the form blockIdx * size + threadIdx, and two are needed, or one of which / and "
          "% make two; it has more threads than a product of such sizes has elements"},
         {"07_triangular",
          "trmm_lower_transposed: no bound is known for col: `if (col >= ..) return;` or `if (col < ..)` around the work is "
          "needed; what it stores is no sum of products"}});
}

TEST_F(BlindProducts, SplitKTile) {
  Check("split_k_tile", {{"01_scaled_in_place", "(silence)"},
                         {"02_linear_backward"},
                         {"03_strided_batches_half", "(silence)"},
                         {"04_thread_coarsening"},
                         {"05_w8a8_dp4a", "(silence)"},
                         {"06_four_indices", "(silence)"},
                         {"07_triangular", "(silence)"}});
}

TEST_F(BlindProducts, SplitTensorContraction) {
  Check("split_tensor_contraction", {{"01_scaled_in_place", "(silence)"},
                                     {"02_linear_backward"},
                                     {"03_strided_batches_half", "(silence)"},
                                     {"04_thread_coarsening"},
                                     {"05_w8a8_dp4a", "(silence)"},
                                     {"06_four_indices", "(silence)"},
                                     {"07_triangular", "(silence)"}});
}

TEST_F(BlindProducts, TensorContraction) {
  Check("tensor_contraction",
        {{"01_scaled_in_place", "(silence)"},
         {"02_linear_backward",
          "linear_backward_input: the factor `dout_bt[o]` is no element of half or bfloat16 converted to float"},
         {"03_strided_batches_half", "(silence)"},
         {"04_thread_coarsening",
          "matrixMulKernel: the factor `M[(long long)row_2 * width + k_2]` is no element of half or bfloat16 converted to float"},
         {"05_w8a8_dp4a", "(silence)"},
         {"06_four_indices", "(silence)"},
         {"07_triangular", "(silence)"}});
}

TEST_F(BlindProducts, IntegerTensorContraction) {
  Check("integer_tensor_contraction",
        {{"01_scaled_in_place", "(silence)"},
         {"02_linear_backward", "linear_backward_input: it sums up in float, and tensor cores add up products of bytes in int"},
         {"03_strided_batches_half", "(silence)"},
         {"04_thread_coarsening", "matrixMulKernel: it sums up in float, and tensor cores add up products of bytes in int"},
         {"05_w8a8_dp4a", "(silence)"},
         {"06_four_indices", "(silence)"},
         {"07_triangular", "(silence)"}});
}

TEST_F(BlindProducts, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp", {{"01_scaled_in_place",
                                    "gemm_kernel: the turns of the loop `for (k = 0; k < nk; k++)` leave behind more than sums, "
                                    "extremes and elements of their own"},
                                   {"02_linear_backward",
                                    "linear_backward_input: its threads differ in more than their row, or also store elsewhere; "
                                    "linear_backward_weight: its threads differ in more than their row, or also store elsewhere"},
                                   {"03_strided_batches_half", "(silence)"},
                                   {"04_thread_coarsening", "(silence)"},
                                   {"05_w8a8_dp4a",
                                    "linear_w8a8: the turns of the loop `for (int g = 0; g < groups; ++g) {` leave behind more "
                                    "than sums, extremes and elements of their own"},
                                   {"06_four_indices"},
                                   {"07_triangular",
                                    "trmm_lower_transposed: the turns of the loop `for (int k = m - 1; k > (int)row; --k) {` "
                                    "leave behind more than sums, extremes and elements of their own"}});
}

}  // namespace
}  // namespace evo
