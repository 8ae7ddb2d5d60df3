#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignAttentions = ForeignKernelTest;

TEST_F(ForeignAttentions, FuseAttention) {
  Check(
      "fuse_attention",
      {{"01_three_passes"},
       {"02_online_strided"},
       {"03_block_per_row", "attention_block_row: its threads work together already, through shared memory"},
       {"04_warp_per_row", "attention_warp: no variable is blockIdx * size + threadIdx, the row of a thread"},
       {"05_scores_in_global", "attention_query_key_value: what it stores is not softmax(scale * query * key) * value over the"},
       {"06_separate_kernels", "(silence)"},
       {"07_key_lengths", "masked_attention: it reads 1 buffers, and attention reads three"},
       {"08_template"},
       {"09_shared_tiles", "flash_forward: its threads work together already, through shared memory"},
       {"10_flat_macro_fp32", "sdpa: no bound is known for idx: `if (idx >= ..) return;` or `if (.. < ..)` around the work"}});
}

}  // namespace
}  // namespace evo
