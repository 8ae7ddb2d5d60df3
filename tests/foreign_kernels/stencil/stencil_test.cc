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
                         {"34_planes_of_block", "smooth: "},
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
                         {"51_line_from_moved_pointers"},
                         {"52_line_that_reads_on"},
                         {"53_pixels_of_a_fixed_grid"},
                         {"54_steps_in_whole_tiles"},
                         // With what else threads do.
                         {"55_residual_by_atomics"},
                         {"56_largest_change_by_function"},
                         {"57_rule_in_bits"},
                         {"58_two_species_in_vectors"},
                         {"59_cells_as_structs"},
                         {"60_solid_cells"},
                         {"61_staggered_fields"},
                         {"62_rows_as_arrays"},
                         {"63_colours_in_turn"},
                         {"64_electric_field"},
                         {"65_exchanged_cells"}});
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
                         {"34_planes_of_block", "smooth: "},
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
                         {"51_line_from_moved_pointers", "stencil_1d: "},
                         {"52_line_that_reads_on", "look_ahead: its elements lie in a line"},
                         {"53_pixels_of_a_fixed_grid", "edges: "},
                         {"54_steps_in_whole_tiles", "columns: "},
                         // With what else threads do.
                         {"55_residual_by_atomics", "step: it changes more than elements"},
                         {"56_largest_change_by_function", "step: its threads work together already"},
                         {"57_rule_in_bits", "step: "},
                         {"58_two_species_in_vectors", "step: "},
                         {"59_cells_as_structs", "step: "},
                         {"60_solid_cells", "step: "},
                         {"61_staggered_fields", "step: "},
                         {"62_rows_as_arrays", "life: "},
                         {"63_colours_in_turn", "blur: "},
                         {"64_electric_field", "step: "},
                         {"65_exchanged_cells", "update: "}});
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
                            {"51_line_from_moved_pointers", "(silence)"},
                            {"52_line_that_reads_on", "(silence)"},
                            {"53_pixels_of_a_fixed_grid", "(silence)"},
                            {"54_steps_in_whole_tiles", "(silence)"},
                            // With what else threads do.
                            {"55_residual_by_atomics", "(silence)"},
                            {"56_largest_change_by_function", "(silence)"},
                            {"57_rule_in_bits", "(silence)"},
                            {"58_two_species_in_vectors", "(silence)"},
                            {"59_cells_as_structs", "(silence)"},
                            {"60_solid_cells", "(silence)"},
                            {"61_staggered_fields", "(silence)"},
                            {"62_rows_as_arrays", "(silence)"},
                            {"63_colours_in_turn", "(silence)"},
                            {"64_electric_field", "(silence)"},
                            {"65_exchanged_cells", "(silence)"}});
}

// What else threads do must come to the same for each element, in whatever order.
TEST_F(ForeignStencils, RefusesOtherEffects) {
  const auto refuses = [&](const char* kernel, const char* from, const char* to, const char* why) {
    Refuses("stencil_rows", kernel, from, to, why);
  };
  refuses("55_residual_by_atomics", "*changed = 1", "*changed = x", "step: a thread stores more than one element");
  refuses("55_residual_by_atomics", "atomicMax(most, __float_as_int(d))", "b[i] += atomicMax(most, __float_as_int(d))",
          "step: its threads work together already");
  refuses("55_residual_by_atomics", "atomicMax(most, __float_as_int(d))", "atomicExch(most, __float_as_int(d))",
          "step: its threads work together already");
  refuses("55_residual_by_atomics", "  if (x < 1", "  *changed = 1;\n  if (x < 1",
          "step: a thread changes more than elements and stores none");
  refuses("55_residual_by_atomics", "d > 0.5f", "d > 0.5f + *changed", "step: ");
  refuses("56_largest_change_by_function", "int old = *bits, assumed;", "int old = *bits, assumed; address[1] = value;",
          "step: its threads work together already");
  refuses("56_largest_change_by_function", "atomicAdd(count, 1)", "atomicAdd(count + 1 - threadIdx.x, 1)",
          "step: its threads work together already");
  refuses("59_cells_as_structs", "b[i].u =", "b[i + 1].u =", "step: a thread stores more than one element");
  refuses("60_solid_cells", "v += 1.0f", "v += a[i + 1]", "step: sx decides what it does");
  refuses("60_solid_cells", "    b[i] = 0;\n", "", "step: ");
  refuses("62_rows_as_arrays", "grid[up][left]", "grid[up][2 * j % COLS]", "(silence)");
  refuses("65_exchanged_cells", "atomicExch(&result[index], n == 3)", "atomicExch(&result[index / 2], n == 3)", "update: ");
  refuses("63_colours_in_turn", "s / 9", "s / (9 + c)", "blur: ");
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
  // What is beyond the part in shared memory, or past one more element.
  Refuses("stencil_rows", "52_line_that_reads_on", "threadIdx.x + k < blockDim.x", "threadIdx.x + k <= blockDim.x", "(silence)");
  Refuses("stencil_rows", "52_line_that_reads_on", "series[own + k]", "series[own + k - own % 2]", "look_ahead: ");
  Refuses("stencil_rows", "52_line_that_reads_on", "sums[own] = sum", "sums[own] = sum + own", "look_ahead: ");
  // Elements that numbers in constant memory choose.
  Refuses("stencil_rows", "52_line_that_reads_on", "series[own + k]", "series[own + taps[k]]", "(silence)");
  Refuses("stencil_rows", "01_jacobi_index_macro", "#define IDX(i, j) ((i) * nx + (j))",
          "__constant__ int moved[2];\n#define IDX(i, j) ((i) * nx + (j) + moved[0])", "jacobi: ");
  // Pixels that no thread stores, and tiles in which some are missing.
  Refuses("stencil_rows", "54_steps_in_whole_tiles", "part <= EACH", "part < EACH", "columns: ");
  Refuses("stencil_rows", "54_steps_in_whole_tiles", "part < EACH + 2", "part < EACH + 1", "columns: ");
  Refuses("stencil_rows", "54_steps_in_whole_tiles", "H / (4 * 8)", "H / (4 * 8 + 8)", "columns: ");
  // Steps that differ in more than their buffers and real numbers.
  Refuses("stencil_rows", "39_forth_and_back", "life(B, A, W, H)", "life(B, A, H, W)", "life: its launch lines differ");
  Refuses("stencil_rows", "39_forth_and_back", "life(B, A, W, H) grid(ceil_div(W, 16)", "life(B, A, W, H) grid(ceil_div(W, 32)",
          "life: its launch lines differ");
  Refuses("stencil_rows", "30_sobel_tables", "down[i + 1][j + 1]", "down[i + 1][picture[y * width + x] % 3]", "sobel: ");
}

// Threads of a grid of one size that do not come to all elements.
TEST_F(ForeignStencils, RefusesTooFewThreads) {
  const std::string fixed = "53_pixels_of_a_fixed_grid";
  Refuses("stencil_rows", fixed, "j < w; j += columns", "j < min(w, columns); j += columns", "edges: ");
  Refuses("stencil_rows", fixed, "i < h; i += rows", "i < h && i < rows; i += rows", "edges: ");
  Refuses("stencil_rows", fixed, "j < w; j += columns", "j < min(w, 1024); j += columns", "edges: ");
  Refuses("stencil_rows", fixed, "j += columns", "j += 2 * columns", "edges: ");
  Refuses("stencil_rows", "40_fixed_grid_twice", "c += gridDim.x * blockDim.x", "c += cols", "diffuse: ");
  Refuses("stencil_rows", "40_fixed_grid_twice", "r += gridDim.y * blockDim.y", "r += rows", "diffuse: ");
  Refuses("stencil_rows", "01_jacobi_index_macro", "grid(ceil_div(W, 32), ceil_div(H, 8))", "grid(8, 8)", "jacobi: ");
  Refuses("stencil_rows", "01_jacobi_index_macro", "grid(ceil_div(W, 32), ceil_div(H, 8))", "grid(ceil_div(W, 32), 8)",
          "jacobi: ");
}

}  // namespace
}  // namespace evo
