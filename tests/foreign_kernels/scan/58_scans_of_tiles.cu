// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums i32 [ceil_div(N, 256)]
// evo:launch scan_tiles(X, Y, sums, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_serial(sums, ceil_div(N, 256)) grid(1) block(32)
// evo:launch add_tile_offsets(Y, sums, N) grid(ceil_div(N, 256)) block(256)
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void scan_tiles(const int* x, int* y, int* sums, int n) {
  __shared__ int totals[32];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int own = i < n ? x[i] : 0;
  int sum = cg::inclusive_scan(warp, own);
  if (warp.thread_rank() == 31) totals[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    const int of_warp = warp.thread_rank() < warp.meta_group_size() ? totals[warp.thread_rank()] : 0;
    totals[warp.thread_rank()] = cg::exclusive_scan(warp, of_warp, cg::plus<int>());
  }
  block.sync();
  sum += totals[warp.meta_group_rank()];
  if (i < n) y[i] = sum;
  if (block.thread_rank() == block.size() - 1) sums[blockIdx.x] = sum;
}

__global__ void scan_serial(int* sums, int count) {
  if (threadIdx.x != 0) return;
  int run = 0;
  for (int k = 0; k < count; ++k) {
    const int own = sums[k];
    sums[k] = run;
    run += own;
  }
}

__global__ void add_tile_offsets(int* y, const int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += sums[blockIdx.x];
}
