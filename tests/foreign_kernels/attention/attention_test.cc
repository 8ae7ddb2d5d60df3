#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignAttentions = ForeignKernelTest;

TEST_F(ForeignAttentions, FuseAttention) {
  Check("fuse_attention",
        {{"01_three_passes"},
         {"02_online_strided"},
         {"03_block_per_row"},
         {"04_warp_per_row"},
         {"05_scores_in_global"},
         {"06_separate_kernels", "softmax_kernel: if it is a part of an attention, that is in several kernels, and is fused in"},
         {"07_key_lengths"},
         {"08_template"},
         {"09_shared_tiles"},
         {"10_flat_macro_fp32"},
         {"11_no_keys"}});
}

}  // namespace
}  // namespace evo
