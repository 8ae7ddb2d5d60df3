#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since.
using BlindAttentions = ForeignKernelTest;

TEST_F(BlindAttentions, FuseAttention) {
  Check("fuse_attention",
        {{"01_causal_block_per_query", "?"},
         {"02_scores_softmax_values", "?"},
         {"03_cross_attention_warp", "?"},
         {"04_flash_tiles", "?"},
         {"05_decode_params", "?"},
         {"06_strides_and_lse", "?"}});
}

TEST_F(BlindAttentions, WarpGroupAttention) {
  Check("warp_group_attention",
        {{"01_causal_block_per_query", "?"},
         {"02_scores_softmax_values", "?"},
         {"03_cross_attention_warp", "?"},
         {"04_flash_tiles", "?"},
         {"05_decode_params", "?"},
         {"06_strides_and_lse", "?"}});
}

TEST_F(BlindAttentions, OnlineSoftmax) {
  Check("online_softmax",
        {{"01_causal_block_per_query", "?"},
         {"02_scores_softmax_values", "?"},
         {"03_cross_attention_warp", "?"},
         {"04_flash_tiles", "?"},
         {"05_decode_params", "?"},
         {"06_strides_and_lse", "?"}});
}

}  // namespace
}  // namespace evo
