#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignAttentions = ForeignKernelTest;

TEST_F(ForeignAttentions, FuseAttention) {
  Check("fuse_attention", {{"01_three_passes"},
                           {"02_online_strided"},
                           {"03_block_per_row"},
                           {"04_warp_per_row"},
                           {"05_scores_in_global"},
                           {"06_separate_kernels"},
                           {"07_key_lengths"},
                           {"08_template"},
                           {"09_shared_tiles"},
                           {"10_flat_macro_fp32"},
                           {"11_no_keys"},
                           {"12_causal_masked_half2"},
                           {"13_alibi", "it reads 4 buffers, and attention reads three"},
                           {"14_padding_mask", "decides what it computes"},
                           {"15_sliding_window", "with 67 keys, what it stores is not softmax"},
                           {"16_packed_qkv", "(silence)"},
                           {"17_grouped_queries"},
                           {"18_decode_cache"},
                           {"19_two_kernels"},
                           {"20_additive_bias", "it reads 4 buffers, and attention reads three"},
                           {"21_decode_thread"},
                           {"22_long_rows"}});
}

// What fuse_attention refuses is refused in silence.
TEST_F(ForeignAttentions, WarpGroupAttention) {
  Check("warp_group_attention", {{"01_three_passes", "its rows have 32 elements"},
                                 {"02_online_strided", "its rows have 32 elements"},
                                 {"03_block_per_row", "its rows have 32 elements"},
                                 {"04_warp_per_row", "its rows have 32 elements"},
                                 {"05_scores_in_global", "its rows have 48 elements"},
                                 {"06_separate_kernels", "its rows have 32 elements"},
                                 {"07_key_lengths", "its rows have 32 elements"},
                                 {"08_template"},
                                 {"09_shared_tiles", "its rows have 32 elements"},
                                 {"10_flat_macro_fp32", "sdpa: its rows are of float"},
                                 {"11_no_keys", "ragged: its rows are of float"},
                                 {"12_causal_masked_half2"},
                                 {"13_alibi", "(silence)"},
                                 {"14_padding_mask", "(silence)"},
                                 {"15_sliding_window", "(silence)"},
                                 {"16_packed_qkv", "(silence)"},
                                 {"17_grouped_queries"},
                                 {"18_decode_cache", "(silence)"},
                                 {"19_two_kernels", "pv: its rows are of float"},
                                 {"20_additive_bias", "(silence)"},
                                 {"21_decode_thread", "(silence)"},
                                 {"22_long_rows"}});
}

}  // namespace
}  // namespace evo
