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
    {"25_block_of_a_row_by_trees", "(silence)"},
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
    {"36_sums_of_neighbours", "twice: the turns of the loop `for (int j = 0; j < n; ++j) {`"}};

TEST_F(ForeignRows, ThreadPerRowToWarp) { Check("thread_per_row_to_warp", kKernels); }

TEST_F(ForeignRows, ThreadPerRowToBlock) { Check("thread_per_row_to_block", kKernels); }

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
