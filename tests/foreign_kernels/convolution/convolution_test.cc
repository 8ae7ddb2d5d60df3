#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignConvolutions = ForeignKernelTest;

TEST_F(ForeignConvolutions, ConvolutionTiles) {
  Check("convolution_tiles", {{"01_nchw_guard"},
                              {"02_macro_index"},
                              {"03_nhwc"},
                              {"04_dilated"},
                              {"05_template"},
                              {"06_kernel_loop"},
                              {"07_shared_tile"},
                              {"08_float"},
                              {"09_four_filters"},
                              {"10_pointers"},
                              {"11_mixed_layouts"}});
}

}  // namespace
}  // namespace evo
