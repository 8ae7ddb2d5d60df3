#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindRows = ForeignKernelTest;

const std::vector<ForeignKernel> kKernels = {
    {"01_channel_softmax_kernels"},
    {"02_correlation_statistics"},
    {"03_fused_add_rms_norm", "(silence)"},
    {"04_router_top1"},
    {"05_softmax_shared_tree"},
    {"06_quantise_warp_rows", "(silence)"},
    {"07_label_smoothing_backward", "xentropy_fwd_bwd: the turns of the loop `for (uint c = 1; c < classes; ++c)`"},
    {"08_segmentation_argmax"},
    {"09_layer_norm_rows_down",
     "normalise_rows: the turns of the loop `for (int k_2 = a_length - 1; k_2 >= 0; --k_2) s_2 += row[k_2];`"},
    // Written after the recognisers had been extended for those above.
    {"10_multiclass_hinge"},
    {"11_top1_hits"}};

TEST_F(BlindRows, ThreadPerRowToWarp) { Check("thread_per_row_to_warp", kKernels); }

// A block that has a row already gets another size, and shuffles.
TEST_F(BlindRows, ThreadPerRowToBlock) {
  std::vector<ForeignKernel> kernels = kKernels;
  kernels[2].refusal = "fused_add_rms_norm_kernel: the turns of the loop";
  kernels[4].refusal = "";
  Check("thread_per_row_to_block", kernels);
}

TEST_F(BlindRows, VectorLoadShared) {
  Check("vector_load_shared", {{"01_channel_softmax_kernels", "(silence)"},
                               {"02_correlation_statistics", "(silence)"},
                               {"03_fused_add_rms_norm", "(silence)"},
                               {"04_router_top1", "(silence)"},
                               {"05_softmax_shared_tree"},
                               {"06_quantise_warp_rows"},
                               {"07_label_smoothing_backward", "(silence)"},
                               {"08_segmentation_argmax", "(silence)"},
                               {"09_layer_norm_rows_down", "(silence)"},
                               {"10_multiclass_hinge", "(silence)"},
                               {"11_top1_hits", "(silence)"}});
}

TEST_F(BlindRows, OnlineSoftmax) {
  Check("online_softmax", {{"01_channel_softmax_kernels", "(silence)"},
                           {"02_correlation_statistics", "(silence)"},
                           {"03_fused_add_rms_norm", "(silence)"},
                           {"04_router_top1", "(silence)"},
                           {"05_softmax_shared_tree", "(silence)"},
                           {"06_quantise_warp_rows", "(silence)"},
                           {"07_label_smoothing_backward", "(silence)"},
                           {"08_segmentation_argmax", "(silence)"},
                           {"09_layer_norm_rows_down", "(silence)"},
                           {"10_multiclass_hinge", "(silence)"},
                           {"11_top1_hits", "(silence)"}});
}

}  // namespace
}  // namespace evo
