#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignRows = ForeignKernelTest;

// Both share the turns of a row, and take and leave the same kernels.
const std::vector<ForeignKernel> kKernels{
    {"01_softmax_three_passes"},
    {"02_online_softmax"},
    {"03_log_sum_exp_pointers"},
    {"04_layer_norm_saved_statistics"},
    {"05_layer_norm_moments"},
    {"06_rms_norm"},
    {"07_l2_normalise_moving_pointer"},
    {"08_log_softmax_helpers"},
    {"09_cross_entropy"},
    {"10_scale_to_unit_range"},
    {"11_argmax_of_rows"},
    {"12_standardise"},
    {"13_online_by_reference"},
    {"14_log_sum_exp_online"},
    {"15_masked_softmax"},
    {"16_causal_attention_weights"},
    {"17_residual_layer_norm"},
    {"18_group_norm_of_planes"},
    {"19_loss_with_ignored_labels"},
    {"20_divergence_of_rows"},
    {"21_cosine_similarity"},
    {"22_nearest_code"},
    {"23_quantise_activations"},
    {"24_running_variance"},
    {"25_block_of_a_row_by_trees"},
    {"26_warp_of_a_row_in_half2", "(silence)"},
    {"27_running_total"},
    {"28_offsets_of_lengths"},
    {"29_log_sum_exp_of_masked"},
    {"30_variance_by_turns"},
    // Written together with what they need.
    {"31_loss_and_hits"},
    {"32_pointer_down_a_column"},
    {"33_place_from_a_counter", "(silence)"},
    {"34_pointer_tells_how_far", "mean_by_distance: the turns of the loop `for (int c = 0; c < columns; ++c) sum += *p++;`"},
    {"35_sums_wait_in_memory"},
    {"37_dim3_of_one_axis"},
    {"36_sums_of_neighbours", "twice: the turns of the loop `for (int j = 0; j < n; ++j) {`"},
    {"38_softmax_of_a_block"},
    {"39_layer_norm_of_a_block"},
    {"40_pairs_of_a_block"},
    {"41_moments_of_a_warp"},
    {"42_row_in_shared_memory"},
    {"43_loss_of_a_block", "(silence)"},
    {"44_several_rows_of_a_block"},
    // Found by what all launches leave.
    {"45_softmax_of_structs"},
    {"46_softmax_in_four_kernels"},
    {"47_rms_norm_in_float4"},
    {"48_layer_norm_by_atomics"},
    {"49_rows_in_place_by_warps"},
    {"50_layer_norm_of_two_numbers"},
    {"51_softmax_of_one_array"},
    {"52_pairs_in_rounds"}};

TEST_F(ForeignRows, ThreadPerRowToWarp) { Check("thread_per_row_to_warp", kKernels); }

// A block that has a row already gets another size, and shuffles.
TEST_F(ForeignRows, ThreadPerRowToBlock) {
  std::vector<ForeignKernel> kernels = kKernels;
  for (ForeignKernel& kernel : kernels) {
    const auto shares = {"25_block_of_a_row_by_trees", "26_warp_of_a_row_in_half2", "41_moments_of_a_warp",
                         "42_row_in_shared_memory"};
    if (kernel.name.ends_with("_of_a_block") || std::find(shares.begin(), shares.end(), kernel.name) != shares.end())
      kernel.refusal = "";
    if (kernel.name == "33_place_from_a_counter") kernel.refusal = "all launches together: what its kernels leave";
  }
  Check("thread_per_row_to_block", kernels);
}

TEST_F(ForeignRows, NearMissesOfBlocks) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("thread_per_row_to_block", kernel, from, to, why);
  };
  // A tree that leaves out what the upper half has.
  refuses("38_softmax_of_a_block",
          "int stride = blockDim.x / 2; stride > 0; stride >>= 1) {\n      if (tid < stride) buffer[tid] +=",
          "int stride = blockDim.x / 4; stride > 0; stride >>= 1) {\n      if (tid < stride) buffer[tid] +=",
          "`sum` differs between threads in");
  // The threads combine in another way than their loops.
  refuses("38_softmax_of_a_block", "buffer[tid] += buffer[tid + stride]",
          "buffer[tid] = fmaxf(buffer[tid], buffer[tid + stride])", "`sum` differs between threads in");
  // Each thread begins with one.
  refuses("38_softmax_of_a_block", "float sum = 0.0f;", "float sum = 1.0f;", "`sum` does not begin with 0");
  // Only the first warp's threads have the sum, and others read it.
  refuses("39_layer_norm_of_a_block",
          "if (tid == 0) s_scale =", "if (tid == 32) s_scale =", "`s_scale` differs between threads in");
  // Threads that begin further apart than they go on.
  refuses("39_layer_norm_of_a_block", "for (int i = tid; i < n; i += blockDim.x) sum +=",
          "for (int i = 2 * tid; i < n; i += blockDim.x) sum +=", "in a way that is not understood");
  // One side's sum is not fitted to the larger maximum.
  refuses("40_pairs_of_a_block", " + sums[threadIdx.x + s] * __expf(b - largest);", " + sums[threadIdx.x + s];",
          "`d` differs between threads in");
  // Only the first lane has the sum.
  refuses("41_moments_of_a_warp", "total = __shfl_sync(FULL, total, 0);", "", "`total` differs between threads in");
  // Lanes of the upper half are left out.
  refuses("41_moments_of_a_warp", "int step = WARP / 2", "int step = WARP / 4", "`total` differs between threads in");
  // A thread stores before others have read.
  refuses("42_row_in_shared_memory", "= partial[0];\n  __syncthreads();\n  float sum", "= partial[0];\n  float sum",
          "threads race for `smem`");
  // A neighbour's element is not the thread's own.
  refuses("42_row_in_shared_memory", "row[i] * inverse", "row[n - 1 - i] * inverse", "all launches together");
  // What a row's sum begins with comes from the row before.
  refuses("44_several_rows_of_a_block", "  for (int row = blockIdx.x; row < rows; row += gridDim.x) {\n    float own = 0.0f;",
          "  float own = 0.0f;\n  for (int row = blockIdx.x; row < rows; row += gridDim.x) {", "`own` goes from row to row");
  // Every other element is left out; some are added twice; there is nothing yet to be read.
  refuses("43_loss_of_a_block", "c += blockDim.x) sum", "c += 2 * blockDim.x) sum", "in a way that is not understood");
  refuses("43_loss_of_a_block", "v = lane < blockDim.x / warpSize ? of_warps[lane] : largest ? -INFINITY : 0.f;",
          "v = lane < blockDim.x / warpSize ? of_warps[lane] : of_warps[0];", "`sum` differs between threads in");
  refuses("39_layer_norm_of_a_block", "  __syncthreads();\n  float variance", "  float variance",
          "`s_mean` is read while another thread writes it");
}

TEST_F(ForeignRows, NearMissesOfResults) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("thread_per_row_to_block", kernel, from, to, why);
  };
  // The last warp's sum is left out, which short rows do not show.
  refuses("45_softmax_of_structs", " + parts[1][3]", "", "where C is 131, what its kernels leave is something else");
  // Threads add to what is not zero yet.
  refuses("48_layer_norm_by_atomics", "= 0.0f;\n  __syncthreads();", "= 0.0f;", "and no barrier is between them");
  refuses("48_layer_norm_by_atomics", "squares / n - mu * mu", "squares / n - mu * mu + row[0]", "what its kernels leave is no");
  // A step of the butterfly twice.
  refuses("49_rows_in_place_by_warps", "acc, 8);", "acc, 4);", "what its kernels leave is no");
  // A number that is no factor, and a tree that lacks its first step.
  refuses("50_layer_norm_of_two_numbers", "y[row * n + j] = gamma", "y[row * n + j] = gamma * gamma",
          "what its kernels leave is no");
  // The last rounds are left out.
  refuses("52_pairs_in_rounds", "pair < pairs", "pair < min(pairs, 4 * 24)", "what its kernels leave is");
  refuses("51_softmax_of_one_array", "int d = 64; d > 0; d /= 2) {\n    if (t < d) s[t] +=",
          "int d = 32; d > 0; d /= 2) {\n    if (t < d) s[t] +=", "what its kernels leave is");
}

// Whatever rows that are changed where they lie store is kept.
TEST_F(ForeignRows, RowsInPlace) {
  const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "49_rows_in_place_by_warps.cu").text;
  for (const auto& [from, to] : {std::pair("norms[row] = len;", "norms[row] = len + row;"),
                                 std::pair("v[d] *= inv;", "v[d] = (d > 130 ? 0.5f : 1.0f) * v[d] * inv;")}) {
    SCOPED_TRACE(to);
    std::string refusal;
    EXPECT_TRUE(Applies("thread_per_row_to_block", With(text, from, to), refusal)) << refusal;
  }
}

// Only softmax and its like have what it rewrites.
TEST_F(ForeignRows, OnlineSoftmax) {
  std::vector<ForeignKernel> kernels = kKernels;
  for (ForeignKernel& kernel : kernels) {
    const auto applies = {"03_log_sum_exp_pointers", "29_log_sum_exp_of_masked"};
    kernel.refusal = std::find(applies.begin(), applies.end(), kernel.name) == applies.end() ? "(silence)" : "";
  }
  Check("online_softmax", kernels);
}

}  // namespace
}  // namespace evo
