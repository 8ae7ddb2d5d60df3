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
         {"18_constant_array"},
         // Written together with what groups of filters need.
         {"19_groups_nhwc"},
         {"20_constant_groups"},
         {"21_interleaved_groups", "conv_interleaved: what a group sums up is not X[n][group * channels + c]"},
         // Written together with what they need.
         {"22_constant_rows"},
         {"23_samples"},
         {"24_sizes_compiled_in"},
         {"25_taps_before_filters"},
         {"26_one_image_two_tap_sizes"},
         {"27_taps_by_columns"},
         {"28_one_volume"},
         {"29_radius_of_width"},
         {"30_radius_is_an_argument"}});
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
                                     {"18_constant_array", "conv_valid: weights is in constant memory"},
                                     {"19_groups_nhwc", no_floats},
                                     {"20_constant_groups"},
                                     {"21_interleaved_groups", "(silence)"},
                                     {"22_constant_rows", "a filter has one channel only"},
                                     {"23_samples", "a filter has one channel only"},
                                     {"24_sizes_compiled_in"},
                                     {"25_taps_before_filters"},
                                     {"26_one_image_two_tap_sizes", "a filter has one channel only"},
                                     {"27_taps_by_columns"},
                                     {"28_one_volume", "a filter has one channel only"},
                                     {"29_radius_of_width", "a filter has one channel only"},
                                     {"30_radius_is_an_argument", "a filter has one channel only"}});
}

// What is almost one of these is none.
TEST_F(ForeignConvolutions, RefusesNearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to) {
    SCOPED_TRACE(to);
    const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel + ".cu")).text;
    std::string refusal;
    EXPECT_FALSE(Applies("convolution_tiles", With(text, from, to), refusal));
  };
  refuses("22_constant_rows", "filter[i][j] * tile", "filter[i][j] * filter[j][i] * tile");
  refuses("22_constant_rows", "threadIdx.y + i]", "threadIdx.y + i * (row % 2)]");
  refuses("23_samples", "signal[start + j]", "signal[(start + j) / 2]");
  refuses("23_samples", "signal[start + j]", "signal[i * length / 2 + j]");
  refuses("24_sizes_compiled_in", "m * C + c)", "m * C + c / 2)");
  refuses("25_taps_before_filters", "(columns + K - 1)", "(columns + K)");
  refuses("27_taps_by_columns", "px + i]", "px + i * j]");
  refuses("28_one_volume", "(z + h)", "(z + 2 * h + i)");
  refuses("29_radius_of_width", "ks / 2", "ks / 3");
  refuses("29_radius_of_width", "* ks + j + r]", "* ks + j]");
  refuses("30_radius_is_an_argument", "(2 * radius + 1)", "(2 * radius)");
}

}  // namespace
}  // namespace evo
