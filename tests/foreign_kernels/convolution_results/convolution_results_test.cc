#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Convolutions that are recognised by what their launches leave.
using ConvolutionResultsTest = ForeignKernelTest;

TEST_F(ConvolutionResultsTest, Parents) { CheckParents(); }

TEST_F(ConvolutionResultsTest, ConvolutionTiles) {
  Check("convolution_tiles", {{"01_filters_a_thread"},   {"02_columns_a_thread"},  {"03_tile_with_halos"},
                              {"04_separable_rows"},     {"05_separable_columns"}, {"06_bounded_loops_nhwc"},
                              {"07_layer_in_tiles"},     {"08_depthwise_pixels"},  {"09_true_convolution", "double"},
                              {"10_unfold_and_product"}, {"11_padded_copy"},       {"12_stride_in_steps"},
                              {"13_sizes_in_macros"},    {"14_sequence_tiles"},    {"15_half_rows_a_thread"},
                              {"16_mirrored_floats"},    {"17_integers_of_line"},  {"18_integers_in_tile", "(silence)"},
                              {"19_integers_of_image"},  {"20_filters_a_block"}});
}

// What is almost one of these is none.
TEST_F(ConvolutionResultsTest, NearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("convolution_tiles", kernel, from, to, why);
  };
  // One tap is left out, one is halved, and one is another one's.
  refuses("01_filters_a_thread", "int s = 0; s < 3", "int s = r / 2; s < 3", "conv_fpt: ");
  refuses("07_layer_in_tiles", "* W_shared[p * K + q]", "* (W_shared[p * K + q] * (p == q ? 0.5f : 1.0f))", "ConvLayerForward: ");
  refuses("12_stride_in_steps", "w[(k * C + c) * 9 + t]", "w[(k * C + c) * 9 + max(t, 1)]", "(silence)");
  // Edges.
  refuses("02_columns_a_thread", "xx >= 0 &&", "xx >= 1 &&", "filter4: ");
  refuses("04_separable_rows", "imageW - baseX > i", "imageW - baseX >= i", "(silence)");
  // The first channel is left out, and what is beyond 64.
  refuses("14_sequence_tiles", "int c = 0; c < C", "int c = 1; c < C", "conv_time: ");
  refuses("06_bounded_loops_nhwc", "c < C; ++c", "c < min(C, 64); ++c", "conv_nhwc: ");
  // Of more images than the code has numbers, some are left out.
  refuses("01_filters_a_thread", "if (ox >= W) return;", "if (ox >= W || n >= 40) return;", "conv_fpt: ");
  // What is there is added to.
  refuses("12_stride_in_steps", "= part + b[k]", "+= part + b[k]", "conv_pairs: ");
  // Threads race.
  refuses("14_sequence_tiles", "    __syncthreads();\n  }\n  if", "  }\n  if", "no barrier is between them");
  // One element is another number, and some are clipped.
  refuses("10_unfold_and_product", "s + bias[row]", "(row + col == 0 ? 1.0f : s) + bias[row]", "gemm_bias: ");
  refuses("08_depthwise_pixels", "fmaxf(second + b[c], 0.0f)", "fminf(fmaxf(second + b[c], 0.0f), 600.0f)", "dw2: ");
  // Integers that decide, are divided, or are of several filters.
  refuses("17_integers_of_line", "* mask[j];", "* (mask[j] > 4 ? mask[j] : 0);", "(silence)");
  refuses("17_integers_of_line", "array[start + j] * mask[j]", "array[start + j] * mask[j] / 2", "(silence)");
  refuses("17_integers_of_line", "(start + j < n)", "(start + j < n - 1)", "(silence)");
  refuses("19_integers_of_image", "int temp = 0", "unsigned char temp = 0", "(silence)");
  refuses("19_integers_of_image", "mask[i * MASK_DIM + j]", "mask[i * MASK_DIM + max(j, 1)]", "(silence)");
  refuses("20_filters_a_block", "filt[k][r * 3 + s]", "filt[k][r * 3 + (n == 1 ? 2 - s : s)]", "conv3x3: ");
  // Each other filter has another bias.
  refuses("01_filters_a_thread", "acc[f] = b[k0 + f]", "acc[f] = b[k0 + f / 2 * 2]", "conv_fpt: ");
}

}  // namespace
}  // namespace evo
