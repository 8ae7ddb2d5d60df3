#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since.
using BlindAttentions = ForeignKernelTest;

TEST_F(BlindAttentions, Run) { CheckParents(); }

TEST_F(BlindAttentions, FuseAttention) {
  Check("fuse_attention",
        {{"01_causal_block_per_query", "causal_attention: its threads take too many turns to be run together"},
         {"02_scores_softmax_values", "its kernels together: with other sizes, what its kernels leave is no attention"},
         {"03_cross_attention_warp", "cross_attention: `qf`, which is not understood"},
         {"04_flash_tiles", "flash_forward: no row stores anything in a launch with sizes of 5 to 12"},
         {"05_decode_params",
          "decode_attention: with 131 keys, what it stores is not softmax(scale * query * key) * value over the keys"},
         {"06_strides_and_lse", "(silence)"}});
}

TEST_F(BlindAttentions, WarpGroupAttention) {
  Check("warp_group_attention", {{"01_causal_block_per_query", "(silence)"},
                                 {"02_scores_softmax_values", "(silence)"},
                                 {"03_cross_attention_warp", "(silence)"},
                                 {"04_flash_tiles", "(silence)"},
                                 {"05_decode_params", "(silence)"},
                                 {"06_strides_and_lse", "(silence)"}});
}

TEST_F(BlindAttentions, OnlineSoftmax) {
  Check("online_softmax", {{"01_causal_block_per_query", "(silence)"},
                           {"02_scores_softmax_values", "(silence)"},
                           {"03_cross_attention_warp", "(silence)"},
                           {"04_flash_tiles", "(silence)"},
                           {"05_decode_params", "(silence)"},
                           {"06_strides_and_lse", "(silence)"}});
}

}  // namespace
}  // namespace evo
