#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignReductions = ForeignKernelTest;

TEST_F(ForeignReductions, ReduceGrid) {
  Check("reduce_grid", {{"01_interleaved_modulo"},
                        {"02_strided_index"},
                        {"03_sequential_twice"},
                        {"04_first_add_at_load"},
                        {"05_unrolled_last_warp"},
                        {"06_template_block_size"},
                        {"07_warp_shuffles"},
                        {"08_dot_product"},
                        {"09_maximum"},
                        {"10_cooperative_groups"},
                        {"11_mean_of_image"},
                        {"12_argmax"},
                        {"13_float4_loads"},
                        {"14_squared_error"},
                        {"15_warp_without_barriers", "", false},
                        {"16_tiles_of_a_warp"},
                        {"17_double_accumulator"},
                        {"18_volatile_warp_function"},
                        {"19_argmin_by_shuffles"},
                        {"20_functors"},
                        {"21_passes_over_halves"},
                        {"22_last_block_finishes"},
                        {"23_struct_for_shared_memory"},
                        {"24_count_above"},
                        {"25_points_inside"},
                        {"26_bytes_of_shared_memory"},
                        {"27_checksum"},
                        {"28_column_sums", "sumColumns: its blocks have more than one dimension"},
                        {"29_statistics_of_channels"},
                        {"30_any_above"},
                        {"31_smallest_and_largest"},
                        {"32_count_by_votes"},
                        {"33_dot_of_half2"},
                        {"34_absolute_values"},
                        {"35_mean_and_variance"},
                        {"36_count_by_ballots"},
                        {"37_weighted_mean"},
                        {"38_planes_of_channels"},
                        // Written together with what they need.
                        {"39_minimum_by_swap"},
                        {"40_swap_that_saturates", "count_up: "},
                        {"41_difference_of_fields"},
                        {"42_moment_of_an_image", "moment: its blocks have more than one dimension"},
                        {"43_partials_for_the_host"},
                        {"44_whole_segments"},
                        {"45_tree_in_scratch"},
                        {"46_half_as_many_threads"},
                        {"47_levels_of_one_kernel"},
                        {"48_counter_of_the_device"},
                        {"49_one_block_more"},
                        {"50_extremes_in_one_array"},
                        {"51_distance_in_chunks"},
                        {"52_smallest_by_if_else"},
                        {"53_largest_under_guard"},
                        {"54_fours_without_a_rest"},
                        {"55_pairs_without_a_check"},
                        {"56_volatile_steps", "", false},
                        {"57_pairs_of_two_launches"},
                        {"58_running_moments"},
                        {"59_extremes_of_last_block"},
                        {"60_neighbours_in_place"},
                        {"61_halves_in_place"},
                        {"62_launches_in_place"},
                        {"63_pairs_of_a_known_number"}});
}

TEST_F(ForeignReductions, NearMissesOfBranchesAndSteps) {
  // Neither the smaller nor the larger of the two.
  Refuses("reduce_grid", "52_smallest_by_if_else", "else low[t] = low[t + s];", "else low[t] = low[t + 1];",
          "its work depends on");
  Refuses("reduce_grid", "52_smallest_by_if_else", "low[t] = low[t];", "low[t] = low[t + s];", "its work depends on");
  Refuses("reduce_grid", "53_largest_under_guard", "t < half && best[t + half] > best[t]",
          "t < half && best[t + half] > best[t] + 1.0f", "its work depends on");
  Refuses("reduce_grid", "53_largest_under_guard", "t < half && best", "t < half || best", "its work depends on");
  // A rest that is not that of fours.
  Refuses("reduce_grid", "54_fours_without_a_rest", "i < n / 4;", "i < n / 4 - 1;", "add_fours: ");
  Refuses("reduce_grid", "54_fours_without_a_rest", "i < n / 4;", "i < n / 5;", "add_fours: ");
  // Elements that are taken twice, and a step too few.
  Refuses("reduce_grid", "55_pairs_without_a_check", "in[i] + in[i + 128]", "in[i] + in[i + 64]", "add_pairs: ");
  Refuses("reduce_grid", "56_volatile_steps", "    cache[tid] += cache[tid + 2];\n", "", "reduce_v4: ");
  Refuses("reduce_grid", "56_volatile_steps", "volatile float", "float", "reduce_v4: ");
}

// What launches leave of a whole array must be one of the known numbers, of all elements.
TEST_F(ForeignReductions, NearMissesOfWholeArrays) {
  const char* const all = "all launches together: ";
  Refuses("reduce_grid", "50_extremes_in_one_array", "out[1] = hi;", "out[1] = hi * 2.0f;", all);
  Refuses("reduce_grid", "50_extremes_in_one_array", "for (int i = 0; i < n; i++) {\n        lo",
          "for (int i = 1; i < n; i++) {\n        lo", all);
  Refuses("reduce_grid", "50_extremes_in_one_array", "lo = FLT_MAX, hi = -FLT_MAX", "lo = FLT_MAX, hi = -100.0f", all);
  Refuses("reduce_grid", "50_extremes_in_one_array", "lo = FLT_MAX, hi = -FLT_MAX", "lo = 1000.0f, hi = -FLT_MAX", all);
  Refuses("reduce_grid", "51_distance_in_chunks", "s += d * d;", "s += d * d * d;", all);
  Refuses("reduce_grid", "51_distance_in_chunks", "sqrtf(all / n)", "sqrtf(all / n + 1e-6f)", all);
  Refuses("reduce_grid", "51_distance_in_chunks", "i < 8; i++) all", "i < 7; i++) all", all);
  Refuses("reduce_grid", "51_distance_in_chunks", "s += d * d;", "if (d < 3.0f) s += d * d;", all);
  // Of equal elements another one than the first, or the last; a place that is not that of the extreme.
  Refuses("reduce_grid", "57_pairs_of_two_launches", "(b.v == a.v && b.i < a.i)", "(b.v == a.v && b.i % 7 < a.i % 7)", all);
  Refuses("reduce_grid", "57_pairs_of_two_launches", "q.i = i;", "q.i = i / 2;", all);
  Refuses("reduce_grid", "57_pairs_of_two_launches", "k < blockDim.x / 32; ++k", "k < 2; ++k", all);
  // Other sums, and a start that counts.
  Refuses("reduce_grid", "58_running_moments", "delta * b.count / r.count;", "delta * a.count / r.count;", all);
  Refuses("reduce_grid", "58_running_moments", "s[0].m2 / s[0].count", "s[0].m2 / s[0].count + 1e-5f", all);
  Refuses("reduce_grid", "58_running_moments", "{0.f, 0.f, 0}", "{0.f, 0.f, 1}", all);
  // A ticket that is not set back, or that another block draws; what has no fence.
  Refuses("reduce_grid", "59_extremes_of_last_block", "ticket = 0;\n  }", "}", all);
  Refuses("reduce_grid", "59_extremes_of_last_block", "== gridDim.x - 1", "== gridDim.x - 2", all);
  Refuses("reduce_grid", "59_extremes_of_last_block", "__threadfence();", "", all);
}

TEST_F(ForeignReductions, NearMisses) {
  // Blocks that take no turns: no other block may have what the host adds up.
  Refuses("reduce_grid", "43_partials_for_the_host", "int tid = threadIdx.x + blockIdx.x * blockDim.x;",
          "int tid = threadIdx.x * gridDim.x + blockIdx.x;", "leaves a part of each block that no other launch combines");
  // Segments that overlap.
  Refuses("reduce_grid", "44_whole_segments", "2 * blockDim.x * blockIdx.x", "blockDim.x * blockIdx.x",
          "the number of elements is neither a parameter of the kernel nor a size");
  // A block that adds up what others have left must know that it is there.
  Refuses("reduce_grid", "22_last_block_finishes", "__threadfence();", "", "sum_in_one_launch: ");
  Refuses("reduce_grid", "22_last_block_finishes", "== gridDim.x - 1", "== gridDim.x / 2", "sum_in_one_launch: ");
  // A tree in the input itself, of which the task may ask what is left.
  Refuses("reduce_grid", "46_half_as_many_threads", "extern __shared__ float part[];", "float* part = (float*)input;",
          "the launches: Y gets the sum of elements of X, but X is changed, too");
  // The same where nobody says what the task asks, or where it asks more.
  Refuses("reduce_grid", "60_neighbours_in_place", "// evo:counted data 0\n", "", "add_neighbours: ");
  Refuses("reduce_grid", "60_neighbours_in_place", "        __syncthreads();\n", "", "(silence)");
  Refuses("reduce_grid", "61_halves_in_place", "evo:counted a 1", "evo:counted a 2", "fold: ");
  Refuses("reduce_grid", "62_launches_in_place", "ceil_log(N, 2)", "ceil_log(N, 2) - 1", "(silence)");
  Refuses("reduce_grid", "62_launches_in_place", "a[i] + a[i + half]", "a[i + half]", "(silence)");
  Refuses("reduce_grid", "63_pairs_of_a_known_number", "s *= 2", "s *= 4", "add_pairs: ");
  // A step too few, and a barrier too few.
  Refuses("reduce_grid", "46_half_as_many_threads", "stride >= 1", "stride > 1", "convergent: ");
  Refuses("reduce_grid", "46_half_as_many_threads", "    __syncthreads();", "", "convergent: ");
}

// A struct that fills what it is aligned to is one of its parts; one with padding is not.
TEST_F(ForeignReductions, StructsMayBeAligned) {
  const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "19_argmin_by_shuffles.cu").text;
  std::string refusal;
  EXPECT_TRUE(Applies("reduce_grid", With(text, "struct Best {", "struct __align__(8) Best {"), refusal)) << refusal;
  Refuses("reduce_grid", "19_argmin_by_shuffles", "struct Best {", "struct __align__(16) Best {", "nearest: ");
}

// The lanes of the cpu device do not go together, so that the child is compared with code that waits.
TEST_F(ForeignReductions, LastWarpGoesTogether) {
  const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "15_warp_without_barriers.cu").text;
  const std::string waits = With(text, "if (tid < 32) warpReduce(sdata, tid);",
                                 "for (int s = 32; s > 0; s /= 2) {\n    if (tid < s) sdata[tid] += sdata[tid + s];\n"
                                 "    __syncthreads();\n  }");
  const SourceMutator& mutator = SourceMutatorNamed("reduce_grid");
  const auto proposals = mutator.Proposals(Parent(ParseTemplate("kernel", text)).Context());
  ASSERT_EQ(proposals.size(), 1u);
  CheckChild(mutator, text, proposals.front(), waits);
}

}  // namespace
}  // namespace evo
