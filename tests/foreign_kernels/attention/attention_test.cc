#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

class ForeignAttentions : public ForeignKernelTest {
 protected:
  static std::string TextOf(const std::string& kernel) {
    return LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / (kernel + ".cu")).text;
  }
};

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
                           {"13_alibi"},
                           {"14_padding_mask"},
                           {"15_sliding_window"},
                           {"16_packed_qkv"},
                           {"17_grouped_queries"},
                           {"18_decode_cache"},
                           {"19_two_kernels"},
                           {"20_additive_bias"},
                           {"21_decode_thread"},
                           {"22_long_rows"},
                           {"23_packed_planes"},
                           {"24_packed_keys"},
                           {"25_ignored_keys"},
                           {"26_query_key_mask"},
                           {"27_window_argument"},
                           {"28_relative_bias"},
                           {"29_computed_slopes"},
                           {"30_local_slopes"},
                           {"31_sizes_compiled_in"},
                           {"32_thread_per_element"},
                           {"33_log_sums"},
                           {"34_log_sums_of_tiles"},
                           {"35_flash_in_global"},
                           {"36_rows_in_loop"},
                           {"37_phases_in_shared"},
                           {"38_product_twice"},
                           {"39_whole_tiles"},
                           {"40_struct_and_atomics"},
                           {"41_heads_inside_rows"},
                           {"42_statistics_in_global"},
                           {"43_head_of_a_template"},
                           {"44_largest_and_sum"},
                           {"45_packed_tokens"},
                           {"46_between_projections"}});
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
                                 {"13_alibi", "its rows have 32 elements"},
                                 {"14_padding_mask", "bert_self_attention: its rows are of float"},
                                 {"15_sliding_window"},
                                 {"16_packed_qkv"},
                                 {"17_grouped_queries"},
                                 {"18_decode_cache", "(silence)"},
                                 {"19_two_kernels", "pv: its rows are of float"},
                                 {"20_additive_bias", "biased_attention: its rows are of float"},
                                 {"21_decode_thread", "(silence)"},
                                 {"22_long_rows"},
                                 {"23_packed_planes", "planes_attention: its rows are of float"},
                                 {"24_packed_keys"},
                                 {"25_ignored_keys"},
                                 {"26_query_key_mask"},
                                 {"27_window_argument"},
                                 {"28_relative_bias"},
                                 {"29_computed_slopes"},
                                 {"30_local_slopes", "local_slopes: its rows are of float"},
                                 {"31_sizes_compiled_in", "self_attention: its rows are of float"},
                                 {"32_thread_per_element", "attend: its rows are of float"},
                                 {"33_log_sums", "forward: its rows store sums, too"},
                                 {"34_log_sums_of_tiles", "flash: its rows store sums, too"},
                                 {"35_flash_in_global", "forward: its rows are of float"},
                                 {"36_rows_in_loop", "plain: its rows have D elements, a size of the task"},
                                 {"37_phases_in_shared", "attention_row: its rows are of float"},
                                 {"38_product_twice", "row_softmax: its rows are of float"},
                                 {"39_whole_tiles", "tiles: its rows store sums, too"},
                                 {"40_struct_and_atomics", "its rows are of float"},
                                 {"41_heads_inside_rows", "its rows are of float"},
                                 {"42_statistics_in_global", "its rows store sums, too"},
                                 {"43_head_of_a_template", "its rows are of float"},
                                 {"44_largest_and_sum", "its rows store sums, too"},
                                 {"45_packed_tokens", "its rows are of float"},
                                 {"46_between_projections", "its rows are of float"}});
}

// Also with the blocks of which small problems have enough for all multiprocessors, and several of them in a row's window.
TEST_F(ForeignAttentions, TermsMasksAndWindowsInSmallBlocks) {
  forms_ = 2;
  for (const char* kernel :
       {"15_sliding_window", "16_packed_qkv", "26_query_key_mask", "27_window_argument", "28_relative_bias", "30_local_slopes"}) {
    SCOPED_TRACE(kernel);
    for (const char* macro : {"fuse_attention", "warp_group_attention"}) {
      std::string refusal;
      EXPECT_TRUE(Applies(macro, TextOf(kernel), refusal) || refusal.ends_with("of float")) << refusal;
    }
  }
}

// What is almost one of these is none.
TEST_F(ForeignAttentions, RefusesNearMisses) {
  struct NearMiss {
    const char *kernel, *from, *to, *why;
  };
  const NearMiss near_misses[] = {
      {"31_sizes_compiled_in", "scores[j] = dot * SCALE", "scores[j] = dot * (N > 40 ? 0.5f : SCALE)",
       "what it stores is not softmax"},
      {"35_flash_in_global", "sum *= softmax_scale;", "sum *= softmax_scale * (1 + tx);",
       "what its kernels leave is not softmax"},
      {"35_flash_in_global", "            l[lm_offset + (Br * i) + tx] = row_l_new;\n        }\n        __syncthreads();",
       "            l[lm_offset + (Br * i) + tx] = row_l_new;\n        }", "no barrier is between them"},
      {"36_rows_in_loop", "!(causal && j > row))", "!(causal && j > row + 1))", "what its kernels leave is not softmax"},
      {"36_rows_in_loop", "int j = 0;\n", "int j = row > 50 ? row - 50 : 0;\n", "where L is "},
      {"36_rows_in_loop", "L, D, 1)", "L, D, MASKED)", "MASKED decides what it computes"},
      {"37_phases_in_shared", "v[base + j * d + c]", "v[base + c * n + j]", "all launches together"},
      {"37_phases_in_shared", "1.f / red[0]", "1.f / (red[0] + 1.f)", "what its kernels leave is not softmax"},
      {"37_phases_in_shared", "scores[j] = s;\n        my_max", "s = fminf(s, 20.f);\n        scores[j] = s;\n        my_max",
       "large scores"},
      {"38_product_twice", "alpha * sum", "alpha * sum + (row > 70 ? 0.5f : 0.0f)", "what its kernels leave is no attention"},
      {"39_whole_tiles", "sum * rsqrtf(DIM)", "sum * rsqrtf(DIM + ty)", "what its kernels leave is not softmax"},
      {"39_whole_tiles", "m[ty] + logf(l[ty])", "m[ty] + l[ty]", "another output has nothing known"},
      {"41_heads_inside_rows", "V[((b * T + j) * H + h) * D + d]", "V[((b * H + h) * T + j) * D + d]",
       "what its kernels leave is no attention"},
      {"41_heads_inside_rows", "K[((b * T + j) * H + h) * D + d]", "K[((b * T + j) * H + h / 2) * D + d]",
       "what its kernels leave is not softmax"},
      {"42_statistics_in_global", "tx] = row_l_new;", "tx] = 2 * row_l_new;", "what its kernels leave is not softmax"},
      {"42_statistics_in_global", "tx] = row_m_new;", "tx] = row_m_new * 1.01f;", "what its kernels leave is not softmax"},
      {"42_statistics_in_global", "// evo:memset l 0\n", "", "another output has nothing known"},
      {"43_head_of_a_template", "acc[i] * inv", "acc[i] * inv + (D > 50 ? 1.f : 0.f)", ""},
      {"44_largest_and_sum", "= l;", "= l + m;", "nothing known of its scores"},
      {"44_largest_and_sum", "= m;", "= fabsf(m);", "nothing known of scores below zero"},
      {"44_largest_and_sum", "top[head * n + row] = m;", "top[head * n + row] = m + top[head * n + row];", ""},
      {"45_packed_tokens", "h * hs + C * 2;", "h * hs + C;", ""},
      {"45_packed_tokens", "t2 <= t; t2++) {\n            const float* value", "t2 < t; t2++) {\n            const float* value",
       ""},
      {"46_between_projections", "s[at] = expf(s[at] - largest) / total;", "s[at] = expf(s[at] - largest) / (total + 1);", ""},
      {"46_between_projections", "project(o, wo, y, M, W)", "project(s, wo, y, M, 2)", ""},
      {"33_log_sums", "m + logf(l)", "m + log2f(l)", "nothing known of its scores"},
      {"33_log_sums", "lse[head * n + row]", "lse[head + row * row]", "do not follow each other by a fixed distance"},
      {"34_log_sums_of_tiles", "sums[head + row] = m + logf(l)", "sums[head + row] = m + l", "nothing known of its scores"},
      {"32_thread_per_element", "v[j * d + c]", "v[j * d + c / 2]", ""},
      {"32_thread_per_element", "score /= sqrtf(d)", "score /= sqrtf(d + c)", ""},
      {"16_packed_qkv", "v[(size_t)t2 * C3 + lane])", "v[(size_t)(t2 + 1) * C3 + lane])", "(silence)"},
      {"13_alibi", "slopes[bh % H]", "slopes[t % H]", "depends on the thread"},
      {"13_alibi", "(float)(s - t)", "(float)((s - t) * (s - t))", "what it stores is not softmax"},
      {"13_alibi", "slope * (float)(s - t)", "slope * (float)max(s - t, -40)", "with 43 keys"},
      {"20_additive_bias", "float s = b[c];", "float s = b[c / 2];", "it reads 4 buffers"},
      {"20_additive_bias", "bh % n_heads) * n_rows + r) *", "bh % n_heads) * n_rows + r / 2) *", "depends on the thread"},
      {"14_padding_mask", "keep ?", "keep == 1 ?", "does not only hide keys by zeros or by all other numbers"},
      {"14_padding_mask", "#define MASKED -10000.0f", "#define MASKED -3.0f", "it compares a score or a weight with -3"},
      {"14_padding_mask", "float highest = MASKED;", "float highest = 0.5f * MASKED;", "a weight with -5000"},
      {"25_ignored_keys", "mixed[d] / total : 0.0f", "mixed[d] / total : 1.0f", "whose keys are all hidden is neither"},
      {"15_sliding_window", "i - WINDOW + 1)", "i / WINDOW * WINDOW)", "with 67 keys"},
      {"15_sliding_window", "i - WINDOW + 1)", "i - WINDOW - i / 20)", "with 67 keys"},
      {"27_window_argument", "row - key >= window", "row - key >= 2 * window", "it is not known what says so"},
      {"27_window_argument", "row - key >= window", "row - key >= min(window, 40)",
       "do not see window keys where these are many"},
      {"27_window_argument", "row - key >= window", "row - key >= max(window, 2)", "where its window of window keys is empty"}};
  for (const auto& [kernel, from, to, why] : near_misses) {
    SCOPED_TRACE(std::string(kernel) + ": " + to);
    std::string refusal;
    const bool applies = Applies("fuse_attention", With(TextOf(kernel), from, to), refusal);
    EXPECT_FALSE(applies);
    EXPECT_THAT(applies ? "applies" : refusal, testing::HasSubstr(why));
  }
}

}  // namespace
}  // namespace evo
