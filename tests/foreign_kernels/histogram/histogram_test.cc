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
                           {"27_digits_of_warps"}});
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

// Others count integers, which private_counts does.
TEST_F(ForeignHistograms, PrivateSums) {
  std::vector<ForeignKernel> kernels;
  for (const auto& entry : std::filesystem::directory_iterator(EVO_FOREIGN_KERNELS)) {
    const std::string name = entry.path().stem().string();
    const bool sums = name == "16_weights_of_floats" || name == "23_charges_on_a_grid";
    if (entry.path().extension() == ".cu") kernels.push_back({name, sums ? "" : "(silence)"});
  }
  Check("private_sums", kernels);
}

}  // namespace
}  // namespace evo
