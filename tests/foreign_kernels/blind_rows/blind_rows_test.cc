#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before it was seen how any of them is taken. None was changed since.
using BlindRows = ForeignKernelTest;

TEST_F(BlindRows, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp",
        {{"01_channel_softmax_kernels"},
         {"02_correlation_statistics"},
         {"03_fused_add_rms_norm"},
         {"04_router_top1"},
         {"05_softmax_shared_tree"},
         {"06_quantise_warp_rows"},
         {"07_label_smoothing_backward"},
         {"08_segmentation_argmax"},
         {"09_layer_norm_rows_down"}});
}

TEST_F(BlindRows, ThreadPerRowToBlock) {
  Check("thread_per_row_to_block",
        {{"01_channel_softmax_kernels"},
         {"02_correlation_statistics"},
         {"03_fused_add_rms_norm"},
         {"04_router_top1"},
         {"05_softmax_shared_tree"},
         {"06_quantise_warp_rows"},
         {"07_label_smoothing_backward"},
         {"08_segmentation_argmax"},
         {"09_layer_norm_rows_down"}});
}

TEST_F(BlindRows, VectorLoadShared) {
  Check("vector_load_shared",
        {{"01_channel_softmax_kernels"},
         {"02_correlation_statistics"},
         {"03_fused_add_rms_norm"},
         {"04_router_top1"},
         {"05_softmax_shared_tree"},
         {"06_quantise_warp_rows"},
         {"07_label_smoothing_backward"},
         {"08_segmentation_argmax"},
         {"09_layer_norm_rows_down"}});
}

TEST_F(BlindRows, OnlineSoftmax) {
  Check("online_softmax",
        {{"01_channel_softmax_kernels"},
         {"02_correlation_statistics"},
         {"03_fused_add_rms_norm"},
         {"04_router_top1"},
         {"05_softmax_shared_tree"},
         {"06_quantise_warp_rows"},
         {"07_label_smoothing_backward"},
         {"08_segmentation_argmax"},
         {"09_layer_norm_rows_down"}});
}

}  // namespace
}  // namespace evo
