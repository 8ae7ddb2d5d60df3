// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace partial f32 [ceil_div(N, 256)]
// evo:launch tile_sum(X, partial, N) grid(ceil_div(N, 256)) block(256)
// evo:launch tile_sum(partial, Y, ceil_div(N, 256)) grid(1) block(256)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Warps as tiles; the first tile adds up what the tiles have. Grid-stride, so that one block can finish the job.
__global__ void tile_sum(const float* __restrict__ in, float* __restrict__ out, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  __shared__ float per_warp[32];

  float mine = 0.f;
  for (int i = blockIdx.x * blockDim.x + block.thread_rank(); i < n; i += gridDim.x * blockDim.x) mine += in[i];

  for (int delta = tile.size() / 2; delta > 0; delta >>= 1) mine += tile.shfl_down(mine, delta);
  if (tile.thread_rank() == 0) per_warp[block.thread_rank() / 32] = mine;
  block.sync();

  if (block.thread_rank() < 32) {
    mine = block.thread_rank() < blockDim.x / 32 ? per_warp[tile.thread_rank()] : 0.f;
    for (int delta = tile.size() / 2; delta > 0; delta >>= 1) mine += tile.shfl_down(mine, delta);
    if (tile.thread_rank() == 0) out[blockIdx.x] = mine;
  }
}
