#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written without a look at the recognisers. None was changed since.
using BlindConvolutions = ForeignKernelTest;

TEST_F(BlindConvolutions, ConvolutionTiles) {
  Check("convolution_tiles",
        {{"01_depthwise_window", "what it sums up is not X[n][c][y + i][x + j]"},
         {"02_depthwise_template", "what it sums up is not X[n][c][y + i][x + j]"},
         {"03_volume_blocks", "what it sums up is not X[n][c][y + i][x + j]"},
         {"04_deconvolution", "what it sums up is not X[n][c][y + i][x + j]"},
         {"05_shared_tile_leaky", "its output needs blockIdx.y"},
         {"06_conv1d_struct"},
         {"07_half_nhwc"},
         {"08_image_tile_input", "its filters are in constant memory, where only one row of floats is understood"},
         {"09_backward_data", "it sums up in double, and tensor cores do in float"}});
}

TEST_F(BlindConvolutions, SplitTensorConvolution) {
  Check("split_tensor_convolution", {{"01_depthwise_window", "(silence)"},
                                     {"02_depthwise_template", "(silence)"},
                                     {"03_volume_blocks", "(silence)"},
                                     {"04_deconvolution", "(silence)"},
                                     {"05_shared_tile_leaky", "(silence)"},
                                     {"06_conv1d_struct"},
                                     {"07_half_nhwc", "the elements of input are no floats"},
                                     {"08_image_tile_input", "(silence)"},
                                     {"09_backward_data", "(silence)"}});
}

}  // namespace
}  // namespace evo
