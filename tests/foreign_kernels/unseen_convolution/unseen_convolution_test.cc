#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before the recognisers were extended for them. None was changed since.
using UnseenConvolutions = ForeignKernelTest;

TEST_F(UnseenConvolutions, ConvolutionTiles) {
  Check("convolution_tiles", {{"01_grouped_grid_stride"},
                              {"02_constant_filters"},
                              {"03_nhwc_stride2_relu"},
                              {"04_causal_dilated"},
                              {"05_volume"},
                              {"06_transposed"},
                              {"07_implicit_gemm"},
                              {"08_pointwise_silu"}});
}

TEST_F(UnseenConvolutions, SplitTensorConvolution) {
  Check("split_tensor_convolution", {{"01_grouped_grid_stride"},
                                     {"02_constant_filters", "conv_forward: d_mask is in constant memory"},
                                     {"03_nhwc_stride2_relu", "conv_nhwc_s2: the elements of input are no floats"},
                                     {"04_causal_dilated"},
                                     {"05_volume"},
                                     {"06_transposed"},
                                     {"07_implicit_gemm", "implicit_gemm: the elements of x are no floats"},
                                     {"08_pointwise_silu"}});
}

}  // namespace
}  // namespace evo
