#include "mutators/restructuring.h"

namespace evo {

std::vector<std::string> Restructuring() {
  return {"coalesce_exchange",
          "convolution_tiles",
          "fuse_attention",
          "integer_tensor_contraction",
          "integer_warp_group_contraction",
          "look_back_scan",
          "private_counts",
          "private_sums",
          "reduce_grid",
          "register_tile",
          "split_k_split_tensor",
          "split_k_tensor",
          "split_k_tile",
          "split_k_warp_group",
          "split_tensor_contraction",
          "split_tensor_convolution",
          "stencil_rows",
          "stencil_sums",
          "tensor_contraction",
          "thread_per_row_to_block",
          "thread_per_row_to_warp",
          "tile_contraction",
          "warp_group_attention",
          "warp_group_contraction",
          "window_row_sums",
          "work_per_thread"};
}

}  // namespace evo
