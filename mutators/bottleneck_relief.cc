#include "mutators/bottleneck_relief.h"

#include <vector>

namespace evo {
namespace {

// What acts on the bottleneck itself, and what does so in some kernels. Eight children of an operator weigh as much as the
// factor.
constexpr double kStrong = 3;
constexpr double kWeak = 2;

struct Row {
  Bottleneck bottleneck;
  std::vector<const char*> strong;
  std::vector<const char*> weak;
};

// docs/mutators.md has this table with the reasons.
std::vector<Row> Table() {
  return {
      {Bottleneck::kDram,
       {"vector_load", "vector_load_shared", "coalesce_exchange", "look_back_scan"},
       {"cache_hint_store", "register_cache", "shared_stage", "tile_contraction", "split_tensor_contraction",
        "integer_tensor_contraction", "integer_warp_group_contraction", "split_tensor_convolution", "loop_fusion",
        "online_softmax", "block_order", "thread_per_row_to_warp", "stencil_rows", "stencil_sums", "window_row_sums"}},
      {Bottleneck::kL2,
       {"register_tile", "shared_stage", "register_cache", "tile_contraction", "split_tensor_contraction",
        "integer_tensor_contraction", "integer_warp_group_contraction", "split_tensor_convolution", "private_counts",
        "private_sums", "stencil_rows", "stencil_sums", "window_row_sums"},
       {"vector_load", "vector_load_shared", "unroll_and_jam", "loop_interchange", "block_order", "coalesce_exchange"}},
      {Bottleneck::kL1,
       {"shared_padding", "shared_swizzle", "vector_load_shared", "register_tile", "window_row_sums"},
       {"vector_load", "coalesce_exchange", "register_cache", "warp_reduction", "unroll_and_jam"}},
      {Bottleneck::kArithmetic,
       {"fast_math", "exp_to_exp2", "reciprocal", "packed_half2", "convolution_tiles", "split_tensor_contraction",
        "integer_tensor_contraction", "integer_warp_group_contraction", "split_tensor_convolution", "stencil_sums",
        "window_row_sums"},
       {"hoist_invariant", "index_strength", "strip_mine", "unroll_pragma", "accumulator_split", "stencil_rows"}},
      {Bottleneck::kTensorStarved,
       {"tensor_contraction", "integer_tensor_contraction", "warp_group_contraction", "integer_warp_group_contraction",
        "fuse_attention", "warp_group_attention", "convolution_tiles"},
       {"tile_contraction", "packed_half2", "register_tile", "shared_stage"}},
      {Bottleneck::kSpills,
       {"launch_bounds", "loop_fission", "unroll_pragma"},
       {"parameter_step", "parameter_draw", "block_shape", "inline_hint"}},
      {Bottleneck::kBarrier,
       {"barrier_narrow", "warp_reduction", "double_buffer", "reduce_grid", "look_back_scan"},
       {"async_stage", "thread_per_row_to_warp", "block_shape", "parameter_step"}},
      {Bottleneck::kLatency,
       {"vector_load",
        "vector_load_shared",
        "coalesce_exchange",
        "prefetch_next",
        "strip_mine",
        "accumulator_split",
        "async_stage",
        "thread_per_row_to_warp",
        "tile_contraction",
        "split_tensor_contraction",
        "integer_tensor_contraction",
        "integer_warp_group_contraction",
        "split_tensor_convolution",
        "reduce_grid",
        "private_counts",
        "private_sums",
        "look_back_scan",
        "stencil_rows",
        "stencil_sums",
        "window_row_sums"},
       {"double_buffer", "read_only_load", "shared_stage", "shared_padding", "shared_swizzle", "register_tile", "unroll_and_jam",
        "unroll_pragma", "launch_bounds", "thread_per_row_to_block"}},
      {Bottleneck::kTail,
       {"thread_per_row_to_warp", "thread_per_row_to_block", "split_k_tile", "split_k_tensor", "split_k_split_tensor",
        "split_k_warp_group", "block_shape"},
       {"grid_stride", "parameter_step", "parameter_draw", "parameter_mix"}},
      {Bottleneck::kLaunch, {"thread_per_row_to_block", "block_shape"}, {"grid_stride", "parameter_step", "parameter_draw"}},
  };
}

}  // namespace

std::map<Bottleneck, std::map<std::string, double>> Reliefs() {
  std::map<Bottleneck, std::map<std::string, double>> reliefs;
  for (const Row& row : Table()) {
    for (const char* op : row.strong) reliefs[row.bottleneck][op] = kStrong;
    for (const char* op : row.weak) reliefs[row.bottleneck][op] = kWeak;
  }
  return reliefs;
}

}  // namespace evo
