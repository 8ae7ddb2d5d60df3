#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignStencils = ForeignKernelTest;

TEST_F(ForeignStencils, StencilRows) {
  forms_ = 2;  // planes in registers only, and through shared memory
  Check("stencil_rows", {{"01_jacobi_index_macro"},
                         {"02_heat_index_function"},
                         {"03_seven_point_macro"},
                         {"04_wave_two_levels"},
                         {"05_box_blur_of_bytes"},
                         {"06_gaussian_clamp_function"},
                         {"07_sobel"},
                         {"08_variable_coefficients"},
                         {"09_twenty_seven_point"},
                         {"10_loop_over_planes"},
                         {"11_planes_in_registers"},
                         {"12_periodic"},
                         {"13_line_in_shared_memory"},
                         {"14_macros_of_weights"},
                         {"15_acoustic_radius_four"},
                         {"16_gray_scott"},
                         {"17_sharpen_bytes_clamped"},
                         {"18_nineteen_point_struct"},
                         {"19_periodic_ternary"},
                         {"20_march_with_tile", "march: its threads work together already"},
                         {"21_rod_grid_stride"},
                         {"22_flat_index_cells"},
                         {"23_tile_with_halo"},
                         {"24_separable_gauss"},
                         // Written together with what they need.
                         {"25_periodic_box"},
                         {"26_channel"},
                         {"27_membrane_in_place"},
                         {"28_larger_blocks"},
                         {"29_whole_blocks"},
                         {"30_sobel_tables"},
                         {"31_window_of_mean"},
                         {"32_cube_of_constants"},
                         {"33_blur_of_colours", "blur: a thread stores more than one element"},
                         {"34_planes_of_block", "smooth: which elements it stores does not follow"},
                         {"35_bands_of_parameters"},
                         {"36_several_rows_in_tile"},
                         {"37_sobel_in_chunks"},
                         {"38_mean_of_those_there"},
                         {"39_forth_and_back"},
                         {"40_fixed_grid_twice"},
                         {"41_integers_past_the_ends"},
                         {"42_line_of_whole_blocks"},
                         {"43_line_in_whole_tiles"},
                         {"44_square_in_whole_tiles"},
                         {"45_march_with_bounds"},
                         {"46_planes_by_reference", "cube: "},
                         {"47_tile_by_lambda"},
                         {"48_edges_for_whole_blocks"},
                         {"49_unset_outside"},
                         {"50_pixels_as_structs", "blurKernel: "},
                         {"51_line_from_moved_pointers"}});
}

TEST_F(ForeignStencils, StencilSums) {
  Check("stencil_sums", {{"01_jacobi_index_macro"},
                         {"02_heat_index_function"},
                         {"03_seven_point_macro"},
                         {"04_wave_two_levels", "wave_step: it reads `prev[idx]`, which is no neighbour"},
                         {"05_box_blur_of_bytes", "blurKernel: in has no elements of float"},
                         {"06_gaussian_clamp_function", "gaussian5x5: no two elements of a plane have equal weights"},
                         {"07_sobel", "sobel: `sqrtf((dx * dx) + (dy * dy))` is no sum of neighbours"},
                         {"08_variable_coefficients", "diffuse: it reads neighbours of several buffers, or stores to several"},
                         {"09_twenty_seven_point"},
                         {"10_loop_over_planes"},
                         {"11_planes_in_registers"},
                         {"12_periodic"},
                         {"13_line_in_shared_memory", "stencil_1d: its elements lie in a line"},
                         {"14_macros_of_weights"},
                         {"15_acoustic_radius_four", "acoustic_step: it reads `u_prev[me]`, which is no neighbour"},
                         {"16_gray_scott", "grayscott_kernel: it reads neighbours of several buffers, or stores to several"},
                         {"17_sharpen_bytes_clamped", "sharpen: img has no elements of float"},
                         {"18_nineteen_point_struct"},
                         {"19_periodic_ternary"},
                         {"20_march_with_tile", "march: its threads work together already"},
                         {"21_rod_grid_stride", "rod: its elements lie in a line"},
                         {"22_flat_index_cells"},
                         {"23_tile_with_halo"},
                         {"24_separable_gauss", "convolveCols: `d >= 0 && d < h` decides what it sums up"},
                         // Written together with what they need.
                         {"25_periodic_box"},
                         {"26_channel", "channel: it reads `v[j * w + i]`, which is no neighbour"},
                         {"27_membrane_in_place", "membrane: it reads `old_and_new[k]`, which is no neighbour"},
                         {"28_larger_blocks"},
                         {"29_whole_blocks"},
                         {"30_sobel_tables", "sobel: picture has no elements of float"},
                         {"31_window_of_mean", "mean: src has no elements of float"},
                         {"32_cube_of_constants"},
                         {"33_blur_of_colours", "blur: a thread stores more than one element"},
                         {"34_planes_of_block", "smooth: which elements it stores does not follow"},
                         {"35_bands_of_parameters"},
                         {"36_several_rows_in_tile", "diffuse: `row + 1 < h` decides what it sums up"},
                         {"37_sobel_in_chunks", "sobel_chunks: "},
                         {"38_mean_of_those_there", "mean_filter: "},
                         {"39_forth_and_back", "life: "},
                         {"40_fixed_grid_twice"},
                         {"41_integers_past_the_ends", "stencil_1d: its elements lie in a line"},
                         {"42_line_of_whole_blocks", "smooth: its elements lie in a line"},
                         {"43_line_in_whole_tiles", "stencil_1d: its elements lie in a line"},
                         {"44_square_in_whole_tiles"},
                         {"45_march_with_bounds"},
                         {"46_planes_by_reference", "cube: "},
                         {"47_tile_by_lambda"},
                         {"48_edges_for_whole_blocks", "sobel: "},
                         {"49_unset_outside"},
                         {"50_pixels_as_structs", "blurKernel: "},
                         {"51_line_from_moved_pointers", "stencil_1d: "}});
}

TEST_F(ForeignStencils, WindowRowSums) {
  Check("window_row_sums", {{"01_jacobi_index_macro", "(silence)"},
                            {"02_heat_index_function", "(silence)"},
                            {"03_seven_point_macro", "(silence)"},
                            {"04_wave_two_levels", "(silence)"},
                            {"05_box_blur_of_bytes"},
                            {"06_gaussian_clamp_function", "(silence)"},
                            {"07_sobel", "(silence)"},
                            {"08_variable_coefficients", "(silence)"},
                            {"09_twenty_seven_point", "(silence)"},
                            {"10_loop_over_planes", "(silence)"},
                            {"11_planes_in_registers", "(silence)"},
                            {"12_periodic", "(silence)"},
                            {"13_line_in_shared_memory", "(silence)"},
                            {"14_macros_of_weights", "(silence)"},
                            {"15_acoustic_radius_four", "(silence)"},
                            {"16_gray_scott", "(silence)"},
                            {"17_sharpen_bytes_clamped", "(silence)"},
                            {"18_nineteen_point_struct", "(silence)"},
                            {"19_periodic_ternary", "(silence)"},
                            {"20_march_with_tile", "(silence)"},
                            {"21_rod_grid_stride", "(silence)"},
                            {"22_flat_index_cells", "(silence)"},
                            {"23_tile_with_halo", "(silence)"},
                            {"24_separable_gauss", "(silence)"},
                            {"25_periodic_box", "(silence)"},
                            {"26_channel", "(silence)"},
                            {"27_membrane_in_place", "(silence)"},
                            {"28_larger_blocks", "(silence)"},
                            {"29_whole_blocks", "(silence)"},
                            {"30_sobel_tables", "(silence)"},
                            {"31_window_of_mean"},
                            {"32_cube_of_constants", "(silence)"},
                            {"33_blur_of_colours"},
                            {"34_planes_of_block"},
                            {"35_bands_of_parameters", "(silence)"},
                            {"36_several_rows_in_tile", "(silence)"},
                            {"37_sobel_in_chunks", "(silence)"},
                            {"38_mean_of_those_there", "(silence)"},
                            {"39_forth_and_back", "(silence)"},
                            {"40_fixed_grid_twice", "(silence)"},
                            {"41_integers_past_the_ends", "(silence)"},
                            {"42_line_of_whole_blocks", "(silence)"},
                            {"43_line_in_whole_tiles", "(silence)"},
                            {"44_square_in_whole_tiles", "(silence)"},
                            {"45_march_with_bounds", "(silence)"},
                            {"46_planes_by_reference", "(silence)"},
                            {"47_tile_by_lambda", "(silence)"},
                            {"48_edges_for_whole_blocks", "(silence)"},
                            {"49_unset_outside", "(silence)"},
                            {"50_pixels_as_structs"},
                            {"51_line_from_moved_pointers", "(silence)"}});
}

// What is almost one of these is none.
TEST_F(ForeignStencils, RefusesNearMisses) {
  Refuses("window_row_sums", "33_blur_of_colours", "red += img[at]", "red += img[at] * (row % 2)",
          "blur: what it adds up depends on row");
  Refuses("window_row_sums", "33_blur_of_colours", "red += img[at]", "red += count * img[at]",
          "blur: its loop over rows does more with count");
  Refuses("window_row_sums", "33_blur_of_colours", "red += img[at]", "red = img[at]", "in its loop over rows is more than a sum");
  Refuses("window_row_sums", "33_blur_of_colours", "int red = 0", "int red = 1", "blur: red does not begin at zero");
  Refuses("window_row_sums", "33_blur_of_colours", "+ 1] = green", "+ 1] = threadIdx.x + green",
          "blur: what `threadIdx.x` stands for");
  Refuses("window_row_sums", "34_planes_of_block", "taps[j + RADIUS] * img", "taps[i + RADIUS] * img", "(silence)");
  Refuses("window_row_sums", "34_planes_of_block", "i <= RADIUS", "i <= row % 3", "smooth: what it adds up depends on row");
  Refuses("stencil_rows", "29_whole_blocks", "i < N - 1", "i < N / 2", "which elements it stores does not follow");
  Refuses("stencil_rows", "31_window_of_mean", "W), 2)", "W), H)", "mean: ");
  Refuses("stencil_rows", "31_window_of_mean", "min(rows - 1, row + radius)", "min(rows - 1, col + radius)", "mean: ");
  // Found by what they store.
  Refuses("stencil_rows", "36_several_rows_in_tile", "    __syncthreads();\n", "", "no barrier is between them");
  Refuses("stencil_rows", "36_several_rows_in_tile", "- 4.0f * cells", "- (x % 3) * cells", "diffuse: ");
  Refuses("stencil_rows", "37_sobel_in_chunks", "p < first + each &&", "p <= first + each &&",
          "two threads store the same element of edges");
  Refuses("stencil_rows", "37_sobel_in_chunks", "2 * q[1] +", "2 * q[pic[p] % 2] +", "sobel_chunks: ");
  Refuses("stencil_rows", "41_integers_past_the_ends", "    __syncthreads();\n", "", "stencil_1d: ");
  Refuses("stencil_rows", "41_integers_past_the_ends", "? in[g] : 0", "? in[g] : g", "stencil_1d: ");
  Refuses("stencil_rows", "41_integers_past_the_ends", "result += temp[l + offset]", "result += temp[l + offset] * (g % 2)",
          "stencil_1d: ");
  Refuses("stencil_rows", "42_line_of_whole_blocks", "in[i - 1]", "in[i - 1 - i % 2]", "(silence)");
  Refuses("stencil_rows", "42_line_of_whole_blocks", "out[i] =", "out[i / 2] =", "(silence)");
  Refuses("stencil_rows", "42_line_of_whole_blocks", "int i = blockIdx.x", "int i = blockIdx.x / 2 * 2", "smooth: ");
  Refuses("stencil_rows", "43_line_in_whole_tiles", "    __syncthreads();\n", "", "stencil_1d: ");
  Refuses("stencil_rows", "43_line_in_whole_tiles", "temp[l + BLOCK_SIZE] = in[g + BLOCK_SIZE]",
          "temp[l + BLOCK_SIZE] = in[g + BLOCK_SIZE - 1]", "stencil_1d: ");
  Refuses("stencil_rows", "43_line_in_whole_tiles", "out[g] = result", "out[g] = result + blockIdx.x", "stencil_1d: ");
  Refuses("stencil_rows", "44_square_in_whole_tiles", "y >= 0 && y < n) tile", "y >= 0 && y < n - 1) tile", "relax: ");
  Refuses("stencil_rows", "44_square_in_whole_tiles", "tile[at + 18])", "tile[at + 18 - x % 2])", "relax: ");
  Refuses("stencil_rows", "45_march_with_bounds", "    below = current;\n", "", "diffuse: ");
  Refuses("stencil_rows", "45_march_with_bounds", "plane[ty][0] = in[at - 1]", "plane[ty][0] = in[at]", "diffuse: ");
  Refuses("stencil_rows", "46_planes_by_reference", "planes[(z - 1) % 3], lx", "planes[z % 2], lx", "cube: ");
  Refuses("stencil_rows", "46_planes_by_reference", "    }\n    __syncthreads();\n", "    }\n", "cube: ");
  Refuses("stencil_rows", "47_tile_by_lambda", "(xx + nx) % nx", "(xx + nx + yy % 2) % nx", "ring: ");
  Refuses("stencil_rows", "47_tile_by_lambda", "yy = (yy + ny) % ny;", "xx = (xx + ny) % ny;", "ring: ");
  Refuses("stencil_rows", "48_edges_for_whole_blocks", "gx + 1 < W && gy > 0) sh[0][17] = src[(gy - 1)",
          "gx + 1 < W && gy > 0) sh[0][17] = src[gy", "(silence)");
  Refuses("stencil_rows", "49_unset_outside", "t[j][i] = own", "t[j][i / 2 * 2] = own", "smooth: ");
  Refuses("stencil_rows", "38_mean_of_those_there", "total / n", "total / (n + y % 2)", "mean_filter: ");
  // Steps that differ in more than their buffers and real numbers.
  Refuses("stencil_rows", "39_forth_and_back", "life(B, A, W, H)", "life(B, A, H, W)", "life: its launch lines differ");
  Refuses("stencil_rows", "39_forth_and_back", "life(B, A, W, H) grid(ceil_div(W, 16)", "life(B, A, W, H) grid(ceil_div(W, 32)",
          "life: its launch lines differ");
  Refuses("stencil_rows", "30_sobel_tables", "down[i + 1][j + 1]", "down[i + 1][picture[y * width + x] % 3]", "sobel: ");
}

}  // namespace
}  // namespace evo
