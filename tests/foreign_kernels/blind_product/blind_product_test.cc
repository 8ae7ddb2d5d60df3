#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since, but the
// range of the numbers on which 05 runs: its sums passed that of half.
// 08 and 09 were written together with what they need.
using BlindProducts = ForeignKernelTest;

TEST_F(BlindProducts, Run) { CheckParents(); }

TEST_F(BlindProducts, TileContraction) {
  Check("tile_contraction", {{"01_scaled_in_place"},
                             {"02_linear_backward"},
                             {"03_strided_batches_half"},
                             {"04_thread_coarsening"},
                             {"05_w8a8_dp4a",
                              "linear_w8a8: its threads have one index of the form blockIdx * size + threadIdx, and two are "
                              "needed, or one of which / and % make two; what it stores is not understood"},
                             {"06_four_indices"},
                             {"07_triangular",
                              "trmm_lower_transposed: no bound is known for col: `if (col >= ..) return;` or `if (col < ..)` "
                              "around the work is needed; what it stores is no sum of products"},
                             {"08_gradient_of_weights"},
                             {"09_words_in_variables"}});
}

TEST_F(BlindProducts, SplitKTile) {
  Check("split_k_tile", {{"01_scaled_in_place", "its sum does not start at 0, but with `c[i * nj + j] * BETA`"},
                         {"02_linear_backward"},
                         {"03_strided_batches_half", "gemm_strided_batched: its blocks go along three axes already"},
                         {"04_thread_coarsening"},
                         {"05_w8a8_dp4a", "(silence)"},
                         {"06_four_indices"},
                         {"07_triangular", "(silence)"},
                         {"08_gradient_of_weights"},
                         {"09_words_in_variables"}});
}

TEST_F(BlindProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_scaled_in_place", "gemm_kernel: the factor `ALPHA * a[i * nk + k]` is no element of float"},
         {"02_linear_backward"},
         {"03_strided_batches_half",
          "gemm_strided_batched: the factor `__half2float(A[(long long)blockIdx.z * stride_a + (long long)row_2 * lda + k_2])` "
          "is no element of float"},
         {"04_thread_coarsening"},
         {"05_w8a8_dp4a", "(silence)"},
         {"06_four_indices", "ladder: it sums up in double, and tensor cores do in float"},
         {"07_triangular", "(silence)"},
         {"08_gradient_of_weights"},
         {"09_words_in_variables", "igemm: it sums up in int, and tensor cores do in float"}});
}

TEST_F(BlindProducts, TensorContraction) {
  Check("tensor_contraction",
        {{"01_scaled_in_place", "the factor `ALPHA * a[i * nk + k]` is no element of half or bfloat16 converted to float"},
         {"02_linear_backward",
          "linear_backward_input: the factor `dout_bt[o]` is no element of half or bfloat16 converted to float"},
         {"03_strided_batches_half"},
         {"04_thread_coarsening",
          "matrixMulKernel: the factor `M[(long long)row_2 * width + k_2]` is no element of half or bfloat16 converted to float"},
         {"05_w8a8_dp4a", "(silence)"},
         {"06_four_indices", "ladder: it sums up in double, and tensor cores do in float"},
         {"07_triangular", "(silence)"},
         {"08_gradient_of_weights",
          "backward_weight: the factor `dout[(long long)k * OC + row]` is no element of half or bfloat16 converted to float"},
         {"09_words_in_variables", "igemm: it sums up in int, and tensor cores do in float"}});
}

TEST_F(BlindProducts, IntegerTensorContraction) {
  Check(
      "integer_tensor_contraction",
      {{"01_scaled_in_place", "gemm_kernel: it sums up in float, and tensor cores add up products of bytes in int"},
       {"02_linear_backward", "linear_backward_input: it sums up in float, and tensor cores add up products of bytes in int"},
       {"03_strided_batches_half", "gemm_strided_batched: it sums up in float, and tensor cores add up products of bytes in int"},
       {"04_thread_coarsening", "matrixMulKernel: it sums up in float, and tensor cores add up products of bytes in int"},
       {"05_w8a8_dp4a", "(silence)"},
       {"06_four_indices", "ladder: it sums up in double, and tensor cores add up products of bytes in int"},
       {"07_triangular", "(silence)"},
       {"08_gradient_of_weights", "backward_weight: it sums up in float, and tensor cores add up products of bytes in int"},
       {"09_words_in_variables"}});
}

TEST_F(BlindProducts, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp",
        {{"01_scaled_in_place", "gemm_kernel: its threads differ in more than their row, or also store elsewhere"},
         {"02_linear_backward",
          "linear_backward_input: its threads differ in more than their row, or also store elsewhere; linear_backward_weight: "
          "its threads differ in more than their row, or also store elsewhere"},
         {"03_strided_batches_half", "(silence)"},
         {"04_thread_coarsening", "(silence)"},
         {"05_w8a8_dp4a",
          "linear_w8a8: the turns of the loop `for (int g = 0; g < groups; ++g) {` leave behind more than sums, extremes and "
          "elements of their own"},
         {"06_four_indices"},
         {"07_triangular",
          "trmm_lower_transposed: the turns of the loop `for (int k = m - 1; k > (int)row; --k) {` leave behind more than sums, "
          "extremes and elements of their own"},
         {"08_gradient_of_weights", "backward_weight: its threads differ in more than their row, or also store elsewhere"},
         {"09_words_in_variables",
          "igemm: the turns of the loop `for (int k = 0; k < K / 4; ++k) {` leave behind more than sums, extremes and elements "
          "of their own"}});
}

TEST_F(BlindProducts, RefusesNearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("tile_contraction", kernel, from, to, why);
  };
  refuses("01_scaled_in_place", "ALPHA * a[i * nk + k]", "ALPHA * c[i * nj + k]",
          "it reads of c what other threads may have stored");
  refuses("01_scaled_in_place", "A, B, C)", "C, B, C)", "no loop adds up anything");
  refuses("01_scaled_in_place", "c[i * nj + j] *= BETA", "c[i * nj + j] = c[i * nj] * BETA",
          "stands before the loop, where only declarations are understood");
  refuses("06_four_indices", "vvvv[VVVV(c, d, a, b)]", "vvvv[VVVV(c, d, b, a)]", "it has more threads than");
  refuses("06_four_indices", "d < nv; ++d", "d <= c; ++d", "it has more threads than");
  refuses("08_gradient_of_weights", "dout[b * T * OC + t * OC + o]", "dout[b * T * OC + o]", "no product of two matrices");
  refuses("09_words_in_variables", "__dp4a(a, b, acc)", "__dp4a(a, b >> 1, acc)", "which is not understood");
  refuses("09_words_in_variables", "const int8_t* __restrict__ B", "const uint8_t* __restrict__ B", "which is not understood");
}

}  // namespace
}  // namespace evo
