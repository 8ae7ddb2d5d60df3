#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignConvolutions = ForeignKernelTest;

TEST_F(ForeignConvolutions, ConvolutionTiles) {
  Check("convolution_tiles",
        {{"01_nchw_guard"},
         {"02_macro_index"},
         {"03_nhwc", "conv2d_nhwc: the elements that it reads of X are those of one channel, or the channels are"},
         {"04_dilated", "conv2d_forward: its taps are no neighbours: the convolution is dilated"},
         {"05_template"},
         {"06_kernel_loop", "ConvForward: a thread stores more than one element"},
         {"07_shared_tile", "conv_tiled: its threads work together already, through shared memory"},
         {"08_float", "convolution: the elements of image are float; tensor cores multiply half or bfloat16"},
         {"09_four_filters", "(silence)"},
         {"10_pointers"}});
}

}  // namespace
}  // namespace evo
