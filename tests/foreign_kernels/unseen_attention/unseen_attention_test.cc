#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

// Attentions that are more than matrices of heads, rows and columns, found by what their launches leave.
using UnseenAttentions = ForeignKernelTest;

TEST_F(UnseenAttentions, Run) { CheckParents(); }

TEST_F(UnseenAttentions, FuseAttention) {
  Check("fuse_attention", {{"01_decode_shared_keys"},
                           {"02_one_head_of_keys"},
                           {"03_lengths_of_sequences"},
                           {"04_wider_values"},
                           {"05_added_mask"},
                           {"06_keys_before_queries"},
                           {"07_slopes_and_groups"},
                           {"08_hidden_keys"},
                           {"09_groups_in_tiles"},
                           {"10_filled_before"},
                           {"11_parts_of_keys"},
                           {"12_kept_for_gradients"}});
}

TEST_F(UnseenAttentions, RefusesNearMisses) {
  const auto refuses = [&](const std::string& kernel, const std::string& from, const std::string& to, const std::string& why) {
    Refuses("fuse_attention", kernel, from, to, why);
  };
  // Also what holds with some sizes only.
  const std::string no_attention = "what its kernels leave is no";
  refuses("01_decode_shared_keys", "value_cache + t * kv_dim + (h / kv_mul)", "value_cache + t * kv_dim + (h % kv_mul)",
          no_attention);
  refuses("02_one_head_of_keys", "V[(b * T + j) * D + d]", "V[((b + 1) % H * T + j) * D + d]", no_attention);
  refuses("03_lengths_of_sequences", "j < len ?", "j <= len ?", no_attention);
  refuses("03_lengths_of_sequences", ": -1e9f", ": -1e1f", no_attention);
  refuses("04_wider_values", "acc += sA[threadIdx.y][k]", "acc += 0.5f * sA[threadIdx.y][k]", no_attention);
  refuses("05_added_mask", "+ mask[i * T + j]", "+ mask[j * T + i]", no_attention);
  refuses("06_keys_before_queries", "if (j > i + Tk - Tq)", "if (j > i + Tk - Tq + 1)", no_attention);
  refuses("07_slopes_and_groups", "slopes[h] * (i - j)", "slopes[h] * (i - j) * (i - j)", no_attention);
  refuses("08_hidden_keys", "mask[b * T + j] == 0", "mask[b * T + j] == 1", "integers of mask decide what it computes");
  refuses("09_groups_in_tiles", "if (causal && t + j > row) break;", "if (causal && t + j > row + 1) break;", no_attention);
  refuses("10_filled_before", "put(den, f32(0)", "put(den, f32(1)", no_attention);
  refuses("10_filled_before", "V[(head + j) * E + e]", "V[(head + j - begin) * E + e]", no_attention);
  refuses("11_parts_of_keys", "w * weights[head * parts + c]", "weights[head * parts + c]", no_attention);
  refuses("11_parts_of_keys", "(group * 4 + g) * D + c]", "(group * 4 + (g + 1) % 4) * D + c]", no_attention);
  refuses("12_kept_for_gradients", "tops[row] = top;", "tops[row] = 2.0f * top;", no_attention);
  refuses("12_kept_for_gradients", "now * V[key * WIDTH + c]", "now * V[key * WIDTH + (c + 1) % WIDTH]", no_attention);
}

}  // namespace
}  // namespace evo
