#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Kernels that were written before anybody looked at how the recognisers take them. None was changed since.
// 07 was written together with what it needs.
using BlindAttentions = ForeignKernelTest;

TEST_F(BlindAttentions, Run) { CheckParents(); }

TEST_F(BlindAttentions, FuseAttention) {
  Check("fuse_attention", {{"01_causal_block_per_query"},
                           {"02_scores_softmax_values"},
                           {"03_cross_attention_warp", "cross_attention: `qf`, which is not understood"},
                           {"04_flash_tiles"},
                           {"05_decode_params"},
                           {"06_strides_and_lse",
                            "attention_forward: it stores sums in logsumexp, and rows may see few keys or none, or have keys of"},
                           {"07_half_of_any_length"}});
}

TEST_F(BlindAttentions, WarpGroupAttention) {
  Check("warp_group_attention",
        {{"01_causal_block_per_query", "causal_attention: its rows are of float"},
         {"02_scores_softmax_values", "pv_kernel: its rows are of float"},
         {"03_cross_attention_warp", "(silence)"},
         {"04_flash_tiles", "flash_forward: its rows are of float"},
         {"05_decode_params", "(silence)"},
         {"06_strides_and_lse", "(silence)"},
         {"07_half_of_any_length",
          "attend: its rows have D elements, a size of the task, and products of warp groups take numbers"}});
}

TEST_F(BlindAttentions, OnlineSoftmax) {
  Check("online_softmax", {{"01_causal_block_per_query", "(silence)"},
                           {"02_scores_softmax_values", "(silence)"},
                           {"03_cross_attention_warp", "(silence)"},
                           {"04_flash_tiles", "(silence)"},
                           {"05_decode_params", "(silence)"},
                           {"06_strides_and_lse", "(silence)"},
                           {"07_half_of_any_length", "(silence)"}});
}

TEST_F(BlindAttentions, RefusesNearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("fuse_attention", kernel, from, to, why);
  };
  refuses("01_causal_block_per_query", "dot *= scale", "dot *= hs > 64 ? 0.5f * scale : scale", "hs decides what it computes");
  refuses("02_scores_softmax_values", "sum / sqrtf((float)d)", "sum / sqrtf(d > 64 ? 64.0f : (float)d)",
          "elements a row, what its kernels leave is no attention");
  refuses("04_flash_tiles", "x < d; x++) sum +=", "x < d - 1; x++) sum +=", "no row stores anything");
  refuses("05_decode_params", "(total + 1e-6f)", "(total + 1.0f)", "what it stores is not softmax");
  refuses("07_half_of_any_length", "s *= scale", "s *= d > 64 ? 0.5f * scale : scale", "what it stores is not softmax");
}

}  // namespace
}  // namespace evo
