#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since.
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
                              {"09_backward_data"}});
}

TEST_F(BlindConvolutions, SplitTensorConvolution) {
  Check("split_tensor_convolution", {{"01_depthwise_window"},
                                     {"02_depthwise_template"},
                                     {"03_volume_blocks"},
                                     {"04_deconvolution"},
                                     {"05_shared_tile_leaky"},
                                     {"06_conv1d_struct"},
                                     {"07_half_nhwc"},
                                     {"08_image_tile_input"},
                                     {"09_backward_data"}});
}

}  // namespace
}  // namespace evo
