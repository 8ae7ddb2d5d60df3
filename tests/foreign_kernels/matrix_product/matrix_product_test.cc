#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignProducts = ForeignKernelTest;

TEST_F(ForeignProducts, TileContraction) {
  Check("tile_contraction", {{"01_textbook"},
                             {"02_struct_matrix"},
                             {"03_shared_tiles"},
                             {"04_column_major_macro"},
                             {"05_flat_half_relu"},
                             {"06_grid_stride"},
                             {"07_pointer_walk"},
                             {"08_template_batched"},
                             {"09_unrolled"},
                             {"10_helper_bf16"},
                             {"11_register_tiles"},
                             {"12_whole_tiles"},
                             {"13_column_of_results"},
                             {"14_warp_per_element",
                              "warp_gemm: its threads work together already: barriers, shuffles, atomics or shared memory; it"},
                             {"15_batched_tiles"},
                             {"16_bias_first"},
                             {"17_batch_along_y"},
                             {"18_manhattan"},
                             {"19_eight_halves"},
                             {"20_upper_half"},
                             {"21_uchar4"},
                             {"22_strictly_lower", "below: its guard has more than bounds of the indices"},
                             {"23_sums_of_half2", "it sums up in half or bfloat16, which rounds after each step"},
                             {"24_width_compiled_in"}});
}

// Sums that are divided among blocks.
TEST_F(ForeignProducts, SplitK) {
  Check("split_k_tile", {{"01_textbook"},
                         {"02_struct_matrix"},
                         {"03_shared_tiles"},
                         {"04_column_major_macro"},
                         {"05_flat_half_relu"},
                         {"06_grid_stride"},
                         {"07_pointer_walk"},
                         {"08_template_batched", "bmm_forward_kernel: its blocks go along three axes already"},
                         {"09_unrolled"},
                         {"10_helper_bf16"},
                         {"11_register_tiles"},
                         {"12_whole_tiles"},
                         {"13_column_of_results"},
                         {"14_warp_per_element"},
                         {"15_batched_tiles", "bmm_tiled: its blocks go along three axes already"},
                         {"16_bias_first", "linear_forward: its sum does not start at 0, but with"},
                         {"17_batch_along_y", "batched_gemm: its blocks go along three axes already"},
                         {"18_manhattan"},
                         {"19_eight_halves"},
                         {"20_upper_half"},
                         {"21_uchar4"},
                         {"22_strictly_lower", "(silence)"},
                         {"23_sums_of_half2", "(silence)"},
                         {"24_width_compiled_in"}});
}

// Products of half and bfloat16 apply, and those of floats are refused.
const std::vector<ForeignKernel> kOnlyOfHalves = {
    {"01_textbook", "matrixMulKernel: the factor `M[row * width + k]` is no element of half or bfloat16 converted"},
    {"02_struct_matrix", "multiply: the factor `a_data[i * a_cols + e]` is no element of half or bfloat16 converted to"},
    {"03_shared_tiles", "tiledMatMul: the factor `A[(long long)row * numAColumns + k_2]` is no element of half or"},
    {"04_column_major_macro", "simple_sgemm: the factor `B[(j * ldb) + p]` is no element of half or bfloat16 converted to"},
    {"05_flat_half_relu"},
    {"06_grid_stride", "gemm_kernel: the factor `a[row * k + l]` is no element of half or bfloat16 converted to float"},
    {"07_pointer_walk", "sgemm_naive: the factor `A[(long long)row_2 * K + k]` is no element of half or bfloat16"},
    {"08_template_batched"},
    {"09_unrolled", "matmul_unroll4: the factor `A[(long long)row * K + k_2]` is no element of half or bfloat16"},
    {"10_helper_bf16"},
    {"11_register_tiles", "sgemm2d: the factor `A[(long long)row * K + k_2]` is no element of half or bfloat16 converted"},
    {"12_whole_tiles", "MatrixMulCUDA: the factor `A[(long long)row * wA + k_2]` is no element of half or bfloat16"},
    {"13_column_of_results", "gemm1d: the factor `A[(long long)row * K + k]` is no element of half or bfloat16 converted to"},
    {"14_warp_per_element", "warp_gemm: the factor `A[(long long)row * K + k_2]` is no element of half or bfloat16"},
    {"15_batched_tiles", "bmm_tiled: the factor"},
    {"16_bias_first", "linear_forward: the factor"},
    {"17_batch_along_y"},
    {"18_manhattan", "distances: the factor `p[row * dims + k]` is no element of half or bfloat16 converted to float"},
    {"19_eight_halves"},
    {"20_upper_half", "gram: the factor"},
    {"21_uchar4", "byte_products: it sums up in int"},
    {"22_strictly_lower", "(silence)"},
    {"23_sums_of_half2", "(silence)"},
    {"24_width_compiled_in", "matmul: the factor `a[(long long)row_2 * WIDTH + k]` is no element of half or bfloat16"}};

TEST_F(ForeignProducts, TensorContraction) { Check("tensor_contraction", kOnlyOfHalves); }

TEST_F(ForeignProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_textbook"},
         {"02_struct_matrix"},
         {"03_shared_tiles"},
         {"04_column_major_macro"},
         {"05_flat_half_relu", "linear_relu: the factor `__half2float(x[(long long)row * k + k_2])` is no element of float"},
         {"06_grid_stride"},
         {"07_pointer_walk"},
         {"08_template_batched", "bmm_forward_kernel: the factor `static_cast<float>(a_batch[row * k + i])` is no element of"},
         {"09_unrolled"},
         {"10_helper_bf16",
          "dense_layer: the factor `__bfloat162float(input[(long long)row * in_features + k])` is no element of float"},
         {"11_register_tiles"},
         {"12_whole_tiles"},
         {"13_column_of_results"},
         {"14_warp_per_element"},
         {"15_batched_tiles"},
         {"16_bias_first"},
         {"17_batch_along_y", "batched_gemm: the factor `__half2float(a[(batch * m + i) * k + l])` is no element of float"},
         {"18_manhattan", "distances: the factor `right` is no element of float"},
         {"19_eight_halves", "hgemm_wide: the factor"},
         {"20_upper_half"},
         {"21_uchar4", "byte_products: it sums up in int"},
         {"22_strictly_lower", "(silence)"},
         {"23_sums_of_half2", "(silence)"},
         {"24_width_compiled_in"}});
}

// Bytes, by one of several ways of writing them.
TEST_F(ForeignProducts, IntegerTensorContraction) {
  forms_ = 2;
  const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "21_uchar4.cu").text;
  std::string refusal;
  EXPECT_TRUE(Applies("integer_tensor_contraction", text, refusal)) << refusal;
}

TEST_F(ForeignProducts, WarpGroupContraction) { Check("warp_group_contraction", kOnlyOfHalves); }

}  // namespace
}  // namespace evo
