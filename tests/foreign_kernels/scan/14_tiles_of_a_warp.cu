// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums f32 [ceil_div(N, 256)]
// evo:launch scan_tiles(X, Y, sums, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_serial(sums, ceil_div(N, 256)) grid(1) block(32)
// evo:launch add_tile_offsets(Y, sums, N) grid(ceil_div(N, 256)) block(256)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename Tile>
__device__ float inclusive_in_tile(const Tile& tile, float v) {
  for (unsigned d = 1; d < tile.size(); d *= 2) {
    const float below = tile.shfl_up(v, d);
    if (tile.thread_rank() >= d) v += below;
  }
  return v;
}

__global__ void scan_tiles(const float* x, float* y, float* sums, int n) {
  __shared__ float totals[8];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const int i = blockIdx.x * blockDim.x + block.thread_rank();
  const int w = block.thread_rank() / 32;
  float v = inclusive_in_tile(warp, i < n ? x[i] : 0.0f);
  if (warp.thread_rank() == 31) totals[w] = v;
  block.sync();
  for (int k = 0; k < w; ++k) v += totals[k];
  if (i < n) y[i] = v;
  if (block.thread_rank() == block.size() - 1) sums[blockIdx.x] = v;
}

__global__ void scan_serial(float* sums, int count) {
  if (threadIdx.x != 0) return;
  float run = 0;
  for (int k = 0; k < count; ++k) {
    const float own = sums[k];
    sums[k] = run;
    run += own;
  }
}

__global__ void add_tile_offsets(float* y, const float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += sums[blockIdx.x];
}
