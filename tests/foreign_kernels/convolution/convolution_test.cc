#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignConvolutions = ForeignKernelTest;

TEST_F(ForeignConvolutions, ConvolutionTiles) {
  Check("convolution_tiles",
        {{"01_nchw_guard"},
         {"02_macro_index"},
         {"03_nhwc"},
         {"04_dilated"},
         {"05_template"},
         {"06_kernel_loop"},
         {"07_shared_tile"},
         {"08_float"},
         {"09_four_filters"},
         {"10_pointers"},
         {"11_mixed_layouts"},
         {"12_sequence"},
         {"13_pointwise"},
         {"14_float_sizes"},
         {"15_float_nhwc"},
         {"16_float_four_filters"},
         {"17_constant_filters"},
         {"18_constant_array", "conv_valid: its filters are in constant memory, where only one row of floats is understood"},
         // Written together with what groups of filters need.
         {"19_groups_nhwc"},
         {"20_constant_groups"},
         {"21_interleaved_groups", "conv_interleaved: what a group sums up is not X[n][group * channels + c]"}});
}

TEST_F(ForeignConvolutions, SplitTensorConvolution) {
  const std::string no_floats = "are no floats";
  Check("split_tensor_convolution", {{"01_nchw_guard", no_floats},
                                     {"02_macro_index", no_floats},
                                     {"03_nhwc", no_floats},
                                     {"04_dilated", no_floats},
                                     {"05_template", no_floats},
                                     {"06_kernel_loop", no_floats},
                                     {"07_shared_tile", no_floats},
                                     {"08_float"},
                                     {"09_four_filters", no_floats},
                                     {"10_pointers", no_floats},
                                     {"11_mixed_layouts", no_floats},
                                     {"12_sequence"},
                                     {"13_pointwise"},
                                     {"14_float_sizes"},
                                     {"15_float_nhwc"},
                                     {"16_float_four_filters"},
                                     {"17_constant_filters", "conv_relu: weights is in constant memory"},
                                     {"18_constant_array", "(silence)"},
                                     {"19_groups_nhwc", no_floats},
                                     {"20_constant_groups"},
                                     {"21_interleaved_groups", "(silence)"}});
}

}  // namespace
}  // namespace evo
