#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignRows = ForeignKernelTest;

TEST_F(ForeignRows, ThreadPerRowToWarp) {
  Check("thread_per_row_to_warp", {{"01_softmax_three_passes", "(silence)"},
                                   {"02_online_softmax", "(silence)"},
                                   {"03_log_sum_exp_pointers"},
                                   {"04_layer_norm_saved_statistics"},
                                   {"05_layer_norm_moments", "(silence)"},
                                   {"06_rms_norm"},
                                   {"07_l2_normalise_moving_pointer", "(silence)"},
                                   {"08_log_softmax_helpers"},
                                   {"09_cross_entropy", "(silence)"},
                                   {"10_scale_to_unit_range", "(silence)"},
                                   {"11_argmax_of_rows", "(silence)"},
                                   {"12_standardise", "(silence)"}});
}

TEST_F(ForeignRows, ThreadPerRowToBlock) {
  Check("thread_per_row_to_block", {{"01_softmax_three_passes", "(silence)"},
                                    {"02_online_softmax", "(silence)"},
                                    {"03_log_sum_exp_pointers"},
                                    {"04_layer_norm_saved_statistics"},
                                    {"05_layer_norm_moments", "(silence)"},
                                    {"06_rms_norm"},
                                    {"07_l2_normalise_moving_pointer", "(silence)"},
                                    {"08_log_softmax_helpers"},
                                    {"09_cross_entropy", "(silence)"},
                                    {"10_scale_to_unit_range", "(silence)"},
                                    {"11_argmax_of_rows", "(silence)"},
                                    {"12_standardise", "(silence)"}});
}

}  // namespace
}  // namespace evo
