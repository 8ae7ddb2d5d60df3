#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before the recognisers were extended for them. None was changed since.
using UnseenProducts = ForeignKernelTest;

TEST_F(UnseenProducts, TileContraction) {
  Check("tile_contraction",
        {{"01_blas_transposed"},
         {"02_int8_weights"},
         {"03_view_struct", "product: it calls MatrixView, which is not looked into"},
         {"04_gelu_residual"},
         {"05_padded_tiles_batched", "bmm_tt: its __launch_bounds__ rule out other blocks"},
         {"06_float4_tiles", "sgemm_vectorized: its threads work together already: barriers, shuffles, atomics or"},
         {"07_syrk_lower", "covariance: its guard has more than bounds of the indices, or has other statements than"},
         {"08_squared_distances"},
         {"09_complex", "cgemm: no loop adds up anything in a variable that is declared before it"},
         {"10_bytes_char4", "igemm_nt: 4 factors depend on n and 4 on m"},
         {"11_half2_nt", "hgemm_nt: it adds up more than one sum; `reinterpret_cast<const __half2*>(A + m * K)`, which is not"},
         {"12_gemv", "gemv_rows: its threads have one index of the form blockIdx * size + threadIdx, and two are"},
         {"13_swiglu_bf16", "swiglu_up: it adds up more than one sum"},
         {"14_scaled_middle", "adb: it has a lambda, which is not looked into"}});
}

// Products of half and bfloat16 apply, and the others are refused.
const std::vector<ForeignKernel> kOfHalves = {
    {"01_blas_transposed", "gemm_tn: the factor `b[p]` is no element of half or bfloat16 converted to float"},
    {"02_int8_weights", "w8a16_linear: the factor `static_cast<float>(qweight[(long long)column * in_features +"},
    {"03_view_struct", "(silence)"},
    {"04_gelu_residual"},
    {"05_padded_tiles_batched", "(silence)"},
    {"06_float4_tiles", "(silence)"},
    {"07_syrk_lower", "(silence)"},
    {"08_squared_distances", "compute_distances: the factor `ref[d * ref_nb + r]` is no element of half or"},
    {"09_complex", "(silence)"},
    {"10_bytes_char4", "(silence)"},
    {"11_half2_nt", "(silence)"},
    {"12_gemv", "(silence)"},
    {"13_swiglu_bf16", "(silence)"},
    {"14_scaled_middle", "(silence)"}};
// The same of bytes.
const std::vector<ForeignKernel> kOfBytes = {
    {"01_blas_transposed", "gemm_tn: it sums up in float, and tensor cores add up products of bytes in int"},
    {"02_int8_weights", "w8a16_linear: it sums up in float, and tensor cores add up products of bytes in int"},
    {"03_view_struct", "(silence)"},
    {"04_gelu_residual", "fused_mlp_out: it sums up in float, and tensor cores add up products of bytes in int"},
    {"05_padded_tiles_batched", "(silence)"},
    {"06_float4_tiles", "(silence)"},
    {"07_syrk_lower", "(silence)"},
    {"08_squared_distances", "compute_distances: it sums up in float, and tensor cores add up products of bytes"},
    {"09_complex", "(silence)"},
    {"10_bytes_char4", "(silence)"},
    {"11_half2_nt", "(silence)"},
    {"12_gemv", "(silence)"},
    {"13_swiglu_bf16", "(silence)"},
    {"14_scaled_middle", "(silence)"}};

TEST_F(UnseenProducts, TensorContraction) { Check("tensor_contraction", kOfHalves); }

TEST_F(UnseenProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_blas_transposed"},
         {"02_int8_weights", "w8a16_linear: the factor `__half2float(act[(long long)row_2 * in_features + k])` is no"},
         {"03_view_struct", "(silence)"},
         {"04_gelu_residual", "fused_mlp_out: the factor `__half2float(inp[(long long)row * C + k])` is no element of"},
         {"05_padded_tiles_batched", "(silence)"},
         {"06_float4_tiles", "(silence)"},
         {"07_syrk_lower", "(silence)"},
         {"08_squared_distances", "compute_distances: it adds more than the product of two elements"},
         {"09_complex", "(silence)"},
         {"10_bytes_char4", "(silence)"},
         {"11_half2_nt", "(silence)"},
         {"12_gemv", "(silence)"},
         {"13_swiglu_bf16", "(silence)"},
         {"14_scaled_middle", "(silence)"}});
}

TEST_F(UnseenProducts, WarpGroupContraction) { Check("warp_group_contraction", kOfHalves); }

TEST_F(UnseenProducts, IntegerTensorContraction) { Check("integer_tensor_contraction", kOfBytes); }

TEST_F(UnseenProducts, IntegerWarpGroupContraction) { Check("integer_warp_group_contraction", kOfBytes); }

TEST_F(UnseenProducts, SplitKTile) {
  Check("split_k_tile", {{"01_blas_transposed"},
                         {"02_int8_weights"},
                         {"03_view_struct", "(silence)"},
                         {"04_gelu_residual", "fused_mlp_out: its sum does not start at 0, but with `(bias != nullptr) ?"},
                         {"05_padded_tiles_batched", "(silence)"},
                         {"06_float4_tiles", "(silence)"},
                         {"07_syrk_lower", "(silence)"},
                         {"08_squared_distances"},
                         {"09_complex", "(silence)"},
                         {"10_bytes_char4", "(silence)"},
                         {"11_half2_nt", "(silence)"},
                         {"12_gemv", "(silence)"},
                         {"13_swiglu_bf16", "(silence)"},
                         {"14_scaled_middle", "(silence)"}});
}

}  // namespace
}  // namespace evo
