#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since. Those behind
// the comments are of another kind.
using BlindConvolutions = ForeignKernelTest;

TEST_F(BlindConvolutions, ConvolutionTiles) {
  Check("convolution_tiles", {{"01_depthwise_window"},
                              {"02_depthwise_template"},
                              {"03_volume_blocks"},
                              {"04_deconvolution"},
                              {"05_shared_tile_leaky"},
                              {"06_conv1d_struct"},
                              {"07_half_nhwc"},
                              {"08_image_tile_input"},
                              {"09_backward_data", "it sums up in double, and tensor cores do in float"},
                              // Written together with what they need.
                              {"10_volume_half_sizes"},
                              {"11_deconvolution_odd"},
                              {"12_signal_reversed"},
                              {"13_backward_data_float"},
                              {"14_deconvolution_truncated", "what it sums up is not X[n][c][y + i][x + j]"},
                              {"15_volume_clamped", "what it sums up is not X[n][c][y + i][x + j]"},
                              {"16_depthwise_half_relu6"},
                              {"17_depthwise_dilated"},
                              {"18_depthwise_reflected", "what it sums up is not X[n][c][y + i][x + j]"}});
}

TEST_F(BlindConvolutions, SplitTensorConvolution) {
  Check("split_tensor_convolution", {{"01_depthwise_window", "a filter has one channel only"},
                                     {"02_depthwise_template", "a filter has one channel only"},
                                     {"03_volume_blocks"},
                                     {"04_deconvolution"},
                                     {"05_shared_tile_leaky"},
                                     {"06_conv1d_struct"},
                                     {"07_half_nhwc", "the elements of input are no floats"},
                                     {"08_image_tile_input", "filter_image: a filter has one channel only"},
                                     {"09_backward_data", "(silence)"},
                                     // Written together with what they need.
                                     {"10_volume_half_sizes", "the elements of x are no floats"},
                                     {"11_deconvolution_odd", "the elements of input are no floats"},
                                     {"12_signal_reversed"},
                                     {"13_backward_data_float"},
                                     {"14_deconvolution_truncated", "(silence)"},
                                     {"15_volume_clamped", "(silence)"},
                                     {"16_depthwise_half_relu6", "a filter has one channel only"},
                                     {"17_depthwise_dilated", "a filter has one channel only"},
                                     {"18_depthwise_reflected", "(silence)"}});
}

}  // namespace
}  // namespace evo
