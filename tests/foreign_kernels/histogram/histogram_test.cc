#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignHistograms = ForeignKernelTest;

TEST_F(ForeignHistograms, PrivateCounts) {
  Check("private_counts", {{"01_bytes_per_thread"},
                           {"02_stride_loop"},
                           {"03_shared_already"},
                           {"04_letters"},
                           {"05_floats_binned"},
                           {"06_image_channels"},
                           {"07_range_checks"},
                           {"08_contiguous_sections"},
                           {"09_warp_private"},
                           {"10_templates"},
                           {"11_helper_function"},
                           {"12_joint_histogram"},
                           {"13_sixteen_bytes_a_thread"},
                           {"14_dynamic_shared"},
                           {"15_joint_of_floats"},
                           {"16_weights_of_floats", "bincount: elements of `sums` are no integers of 32 or 64 bits that count"},
                           {"17_planes_of_an_image"},
                           {"18_logarithmic_bins"},
                           {"19_row_of_a_matrix"},
                           {"20_thread_per_bin"},
                           // Written together with what they need.
                           {"21_lengths_of_words"},
                           {"22_rows_in_shared_memory"},
                           {"23_charges_on_a_grid", "deposit: elements of `rho` are no integers of 32 or 64 bits that count"},
                           {"24_threads_below_the_bins"},
                           {"25_runs_of_a_bin"},
                           {"26_three_colours"},
                           {"27_digits_of_warps"},
                           {"28_global_and_shared"},
                           {"29_channels_as_rows"},
                           {"30_dynamic_bins_of_doubles"},
                           {"31_partial_bins_of_blocks"},
                           {"32_words_of_warps_in_parts"},
                           {"33_weights_in_shared_bins", "weighted: "},
                           {"34_threads_by_columns"}});
}

TEST_F(ForeignHistograms, NearMisses) {
  // Counts that are not set to zero; a number that may be negative; counts that are read before all have counted.
  Refuses("private_counts", "24_threads_below_the_bins", "if (threadIdx.x < LEVELS) local[threadIdx.x] = 0;",
          "if (threadIdx.x < 100) local[threadIdx.x] = 0;", "its threads wait for each other already");
  Refuses("private_counts", "25_runs_of_a_bin", "  }\n  if (met > 0) atomicAdd", "  }\n  atomicAdd",
          "its threads wait for each other already");
  Refuses("private_counts", "24_threads_below_the_bins", "  }\n  __syncthreads();\n", "  }\n",
          "its threads wait for each other already");
  const char* const waits = "its threads wait for each other already";
  // Bins that are not set to zero, that are added twice, or by threads that are numbered otherwise.
  Refuses("private_counts", "26_three_colours", "g[i] = b[i] = 0;", "g[i] = 0;", waits);
  Refuses("private_counts", "26_three_colours", "atomicAdd(&hist[256 + i], g[i]);", "atomicAdd(&hist[256 + i], r[i]);", waits);
  Refuses("private_counts", "26_three_colours", "threadIdx.y * blockDim.x + threadIdx.x;",
          "threadIdx.y * (blockDim.x + threadIdx.x);", waits);
  // Copies of bins that are left out.
  Refuses("private_counts", "27_digits_of_warps", "w < WARPS; w++", "w < WARPS - 1; w++", waits);
  Refuses("private_counts", "27_digits_of_warps", "threadIdx.x < WARPS * RADIX", "threadIdx.x < RADIX", waits);
  Refuses("private_counts", "09_warp_private", "b < WARPS * NBINS", "b < NBINS", waits);
}

TEST_F(ForeignHistograms, NearMissesOfRowsAndPartialCounts) {
  const char* const waits = "its threads wait for each other already";
  // Rows of which one is not cleared, not added, or added from another place.
  Refuses("private_counts", "29_channels_as_rows", "k < 3 * kLevels; k += threads) (&", "k < 2 * kLevels; k += threads) (&",
          waits);
  Refuses("private_counts", "29_channels_as_rows", "met = (&level[0][0])[k]", "met = (&level[1][0])[k]", waits);
  Refuses("private_counts", "29_channels_as_rows", "(&level[0][0])[k] = 0", "((unsigned char*)level)[k] = 0", waits);
  // Parts that are left out or added twice, and other work of the kernel that adds up.
  const char* const kept = "adds these counts to none elsewhere";
  const std::string partial = "31_partial_bins_of_blocks";
  Refuses("private_counts", partial, "P, 20, H", "P, 19, H", kept);
  Refuses("private_counts", partial, "int p = 0; p < blocks", "int p = 1; p < blocks", kept);
  Refuses("private_counts", partial, "= sum;", "= min(sum, 255u);", kept);
  Refuses("private_counts", partial, "= sum;", "+= sum;", kept);
  Refuses("private_counts", partial, "partial[blockIdx.x * BINS + b] = own", "partial[blockIdx.x * BINS + b] += own", kept);
  Refuses("private_counts", partial, "b += blockDim.x) partial", "b += 2 * blockDim.x) partial", kept);
  Refuses("private_counts", partial, "evo:workspace P u32 [20, 256]", "evo:memset H 0", kept);
  Refuses("private_counts", partial, "(P, 20, H) grid(1) block(256)",
          "(P, 20, H) grid(1) block(256)\n// evo:launch add_blocks(P, 10, H) grid(1) block(128)", kept);
  // Copies of which one is not cleared or not added, and a pointer that moves.
  const std::string words = "32_words_of_warps_in_parts";
  Refuses("private_counts", words, "i < WARPS * BINS / THREADS;", "i < WARPS * BINS / THREADS - 1;", "(silence)");
  Refuses("private_counts", words, "    take(mine, w);", "    take(mine, w);\n    mine += 0;", "(silence)");
  Refuses("private_counts", words, "all[threadIdx.x + i * THREADS]", "all[threadIdx.x + i * 16]", "(silence)");
}

// Others count integers, which private_counts does.
TEST_F(ForeignHistograms, PrivateSums) {
  std::vector<ForeignKernel> kernels;
  for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
    const std::string name = entry.path().stem().string();
    const bool sums = name == "16_weights_of_floats" || name == "23_charges_on_a_grid" || name == "33_weights_in_shared_bins";
    if (entry.path().extension() == ".cu") kernels.push_back({name, sums ? "" : "(silence)"});
  }
  Check("private_sums", kernels);
}

}  // namespace
}  // namespace evo
