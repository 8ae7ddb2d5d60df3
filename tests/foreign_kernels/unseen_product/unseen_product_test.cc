#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before the recognisers were extended for them. None was changed since.
using UnseenProducts = ForeignKernelTest;

TEST_F(UnseenProducts, TileContraction) {
  Check("tile_contraction",
        {{"01_blas_transposed"},
         {"02_int8_weights"},
         {"03_view_struct"},
         {"04_gelu_residual"},
         {"05_padded_tiles_batched"},
         {"06_float4_tiles"},
         {"07_syrk_lower"},
         {"08_squared_distances"},
         {"09_complex", "cgemm: no loop adds up anything in a variable that is declared before it"},
         {"10_bytes_char4"},
         {"11_half2_nt"},
         {"12_gemv", "gemv_rows: its threads have one index of the form blockIdx * size + threadIdx, and two are"},
         {"13_swiglu_bf16", "swiglu_up: it adds up more than one sum"},
         {"14_scaled_middle"}});
}

// Products of half and bfloat16 apply, and the others are refused.
const std::vector<ForeignKernel> kOfHalves = {
    {"01_blas_transposed", "gemm_tn: the factor `b[p]` is no element of half or bfloat16 converted to float"},
    {"02_int8_weights", "w8a16_linear: the factor `static_cast<float>(qweight[(long long)column * in_features +"},
    {"03_view_struct", "product: the factor `a[(long long)row * k + k_2]` is no element of half or bfloat16 conv"},
    {"04_gelu_residual"},
    {"05_padded_tiles_batched", "bmm_tt: the factor `A[(long long)blockIdx.z * strideA + (long long)k * M + row_2]` is no"},
    {"06_float4_tiles", "sgemm_vectorized: the factor `A[(long long)row * K + k]` is no element of half or bfloat"},
    {"07_syrk_lower", "covariance: the factor `samples[n * dims + i]` is no element of half or bfloat16 convert"},
    {"08_squared_distances", "compute_distances: the factor `ref[d * ref_nb + r]` is no element of half or"},
    {"09_complex", "(silence)"},
    {"10_bytes_char4", "igemm_nt: it sums up in int, and tensor cores do in float"},
    {"11_half2_nt"},
    {"12_gemv", "(silence)"},
    {"13_swiglu_bf16", "(silence)"},
    {"14_scaled_middle", "adb: the factor `__ldg(&a_b[i * k + l]) * __ldg(&d[l])` is no element of half or bfloat1"}};
// The same of bytes.
const std::vector<ForeignKernel> kOfBytes = {
    {"01_blas_transposed", "gemm_tn: it sums up in float, and tensor cores add up products of bytes in int"},
    {"02_int8_weights", "w8a16_linear: it sums up in float, and tensor cores add up products of bytes in int"},
    {"03_view_struct", "product: it sums up in float, and tensor cores add up products of bytes in int"},
    {"04_gelu_residual", "fused_mlp_out: it sums up in float, and tensor cores add up products of bytes in int"},
    {"05_padded_tiles_batched", "bmm_tt: it sums up in float, and tensor cores add up products of bytes in int"},
    {"06_float4_tiles", "sgemm_vectorized: it sums up in float, and tensor cores add up products of bytes in int"},
    {"07_syrk_lower", "covariance: it sums up in float, and tensor cores add up products of bytes in int"},
    {"08_squared_distances", "compute_distances: it sums up in float, and tensor cores add up products of bytes"},
    {"09_complex", "(silence)"},
    {"10_bytes_char4"},
    {"11_half2_nt", "hgemm_nt: it sums up in float, and tensor cores add up products of bytes in int"},
    {"12_gemv", "(silence)"},
    {"13_swiglu_bf16", "(silence)"},
    {"14_scaled_middle", "adb: it sums up in float, and tensor cores add up products of bytes in int"}};

TEST_F(UnseenProducts, TensorContraction) { Check("tensor_contraction", kOfHalves); }

TEST_F(UnseenProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_blas_transposed"},
         {"02_int8_weights", "w8a16_linear: the factor `__half2float(act[(long long)row_2 * in_features + k])` is no e"},
         {"03_view_struct"},
         {"04_gelu_residual", "fused_mlp_out: the factor `__half2float(inp[(long long)row * C + k])` is no element of f"},
         {"05_padded_tiles_batched"},
         {"06_float4_tiles"},
         {"07_syrk_lower"},
         {"08_squared_distances", "compute_distances: it adds more than the product of two elements"},
         {"09_complex", "(silence)"},
         {"10_bytes_char4", "igemm_nt: it sums up in int, and tensor cores do in float"},
         {"11_half2_nt", "hgemm_nt: the factor `__half2float(A[(long long)row * K + k_2])` is no element of float"},
         {"12_gemv", "(silence)"},
         {"13_swiglu_bf16", "(silence)"},
         {"14_scaled_middle", "adb: the factor `__ldg(&a_b[i * k + l]) * __ldg(&d[l])` is no element of float"}});
}

// A matrix times a vector has one column of results: rows that are shared out.
TEST_F(UnseenProducts, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp",
        {{"01_blas_transposed", "gemm_tn: its threads differ in more than their row, or also store elsewhere"},
         {"02_int8_weights"},
         {"03_view_struct", "product: its threads differ in more than their row, or also store elsewhere"},
         {"04_gelu_residual"},
         {"05_padded_tiles_batched", "(silence)"},
         {"06_float4_tiles", "(silence)"},
         {"07_syrk_lower", "covariance: its threads differ in more than their row, or also store elsewhere"},
         {"08_squared_distances", "compute_distances: its threads differ in more than their row, or also store elsewhere"},
         {"09_complex", "cgemm: the turns of the loop `for (int k = 0; k < K; k++) {` leave behind more than sums"},
         {"10_bytes_char4", "igemm_nt: its threads differ in more than their row, or also store elsewhere"},
         {"11_half2_nt", "hgemm_nt: its threads differ in more than their row, or also store elsewhere"},
         {"12_gemv"},
         {"13_swiglu_bf16", "swiglu_up: its threads differ in more than their row, or also store elsewhere"},
         {"14_scaled_middle", "(silence)"}});
}

TEST_F(UnseenProducts, WarpGroupContraction) { Check("warp_group_contraction", kOfHalves); }

TEST_F(UnseenProducts, IntegerTensorContraction) { Check("integer_tensor_contraction", kOfBytes); }

TEST_F(UnseenProducts, IntegerWarpGroupContraction) { Check("integer_warp_group_contraction", kOfBytes); }

TEST_F(UnseenProducts, SplitKTile) {
  Check("split_k_tile", {{"01_blas_transposed"},
                         {"02_int8_weights"},
                         {"03_view_struct"},
                         {"04_gelu_residual", "fused_mlp_out: its sum does not start at 0, but with `(bias != nullptr) ?"},
                         {"05_padded_tiles_batched", "bmm_tt: its blocks go along three axes already"},
                         {"06_float4_tiles"},
                         {"07_syrk_lower"},
                         {"08_squared_distances"},
                         {"09_complex", "(silence)"},
                         {"10_bytes_char4"},
                         {"11_half2_nt"},
                         {"12_gemv", "(silence)"},
                         {"13_swiglu_bf16", "(silence)"},
                         {"14_scaled_middle", "adb: its blocks go along three axes already"}});
}

}  // namespace
}  // namespace evo
