#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignProducts = ForeignKernelTest;

TEST_F(ForeignProducts, TileContraction) {
  Check(
      "tile_contraction",
      {{"01_textbook"},
       {"02_struct_matrix", "multiply: its guard has more than bounds of the indices, or has other statements than"},
       {"03_shared_tiles", "tiledMatMul: its threads work together already: barriers, shuffles, atomics or shared memory"},
       {"04_column_major_macro", "simple_sgemm: its threads work together already: barriers, shuffles, atomics or shared memory"},
       {"05_flat_half_relu", "linear_relu: its threads have one index of the form blockIdx * size + threadIdx, and two are"},
       {"06_grid_stride", "gemm_kernel: its threads have no index of the form blockIdx * size + threadIdx, and two are"},
       {"07_pointer_walk", "sgemm_naive: it adds up more than one sum"},
       {"08_template_batched", "bmm_forward_kernel: it is a function template"},
       {"09_unrolled", "matmul_unroll4: it adds up more than one sum"},
       {"10_helper_bf16", "dense_layer: no bound is known for token: `if (token >= ..) return;` or `if (token < ..)`"},
       {"11_register_tiles"},
       {"12_whole_tiles"},
       {"13_column_of_results"},
       {"14_warp_per_element"}});
}

TEST_F(ForeignProducts, TensorContraction) {
  Check("tensor_contraction",
        {{"01_textbook", "matrixMulKernel: the factor `M[row * width + k]` is no element of half or bfloat16 converted"},
         {"02_struct_matrix", "(silence)"},
         {"03_shared_tiles", "(silence)"},
         {"04_column_major_macro", "simple_sgemm: the factor `B[(j * ldb) + p]` is no element of half or bfloat16 converted to"},
         {"05_flat_half_relu", "(silence)"},
         {"06_grid_stride", "(silence)"},
         {"07_pointer_walk", "(silence)"},
         {"08_template_batched"},
         {"09_unrolled", "(silence)"},
         {"10_helper_bf16", "(silence)"},
         {"11_register_tiles"},
         {"12_whole_tiles"},
         {"13_column_of_results"},
         {"14_warp_per_element"}});
}

TEST_F(ForeignProducts, SplitTensorContraction) {
  Check("split_tensor_contraction",
        {{"01_textbook"},
         {"02_struct_matrix", "(silence)"},
         {"03_shared_tiles", "(silence)"},
         {"04_column_major_macro", "(silence)"},
         {"05_flat_half_relu", "(silence)"},
         {"06_grid_stride", "(silence)"},
         {"07_pointer_walk", "(silence)"},
         {"08_template_batched", "bmm_forward_kernel: the factor `static_cast<float>(a_batch[row * k + i])` is no element of"},
         {"09_unrolled", "(silence)"},
         {"10_helper_bf16", "(silence)"},
         {"11_register_tiles"},
         {"12_whole_tiles"},
         {"13_column_of_results"},
         {"14_warp_per_element"}});
}

TEST_F(ForeignProducts, WarpGroupContraction) {
  Check("warp_group_contraction",
        {{"01_textbook", "matrixMulKernel: the factor `M[row * width + k]` is no element of half or bfloat16 converted"},
         {"02_struct_matrix", "(silence)"},
         {"03_shared_tiles", "(silence)"},
         {"04_column_major_macro", "simple_sgemm: the factor `B[(j * ldb) + p]` is no element of half or bfloat16 converted to"},
         {"05_flat_half_relu", "(silence)"},
         {"06_grid_stride", "(silence)"},
         {"07_pointer_walk", "(silence)"},
         {"08_template_batched", "(silence)"},
         {"09_unrolled", "(silence)"},
         {"10_helper_bf16", "(silence)"},
         {"11_register_tiles"},
         {"12_whole_tiles"},
         {"13_column_of_results"},
         {"14_warp_per_element"}});
}

}  // namespace
}  // namespace evo
