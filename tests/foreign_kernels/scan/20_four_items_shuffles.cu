// buffers: X u32<100 in [N], Y u32 out [N]
// sizes: N=4; N=300; N=5004
// evo:workspace tile_sum u32 [ceil_div(N, 1024)]
// evo:launch tile_reduce(X, tile_sum, N) grid(ceil_div(N, 1024)) block(256)
// evo:launch scan_tiles_sums(tile_sum, ceil_div(N, 1024)) grid(1) block(32)
// evo:launch tile_scan(X, tile_sum, Y, N) grid(ceil_div(N, 1024)) block(256)
using u32 = unsigned int;
#define FULL 0xffffffffu

__device__ u32 warp_inclusive(u32 v) {
  const u32 lane = threadIdx.x % 32;
  for (u32 s = 1; s < 32; s <<= 1) {
    const u32 o = __shfl_up_sync(FULL, v, s);
    if (lane >= s) v += o;
  }
  return v;
}

__global__ void tile_reduce(const u32* __restrict__ in, u32* __restrict__ sums, u32 n) {
  __shared__ u32 ws[8];
  u32 v = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
    if (i < n) v += in[i];
  }
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(FULL, v, d);
  if (threadIdx.x % 32 == 0) ws[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) v += ws[w];
    sums[blockIdx.x] = v;
  }
}

// One warp, 32 sums at a time.
__global__ void scan_tiles_sums(u32* sums, u32 count) {
  u32 carry = 0;
  for (u32 base = 0; base < count; base += 32) {
    const u32 i = base + threadIdx.x;
    const u32 v = i < count ? sums[i] : 0;
    const u32 inc = warp_inclusive(v);
    if (i < count) sums[i] = carry + inc - v;
    carry += __shfl_sync(FULL, inc, 31);
  }
}

__global__ void tile_scan(const u32* __restrict__ in, const u32* __restrict__ before, u32* __restrict__ out, u32 n) {
  __shared__ u32 ws[8];
  const u32 first = blockIdx.x * 1024 + 4 * threadIdx.x;
  u32 item[4];
  for (u32 k = 0; k < 4; ++k) item[k] = first + k < n ? in[first + k] : 0;
  item[1] += item[0];
  item[2] += item[1];
  item[3] += item[2];
  const u32 inc = warp_inclusive(item[3]);
  if (threadIdx.x % 32 == 31) ws[threadIdx.x / 32] = inc;
  __syncthreads();
  u32 base = before[blockIdx.x] + inc - item[3];
  for (u32 w = 0; w < threadIdx.x / 32; ++w) base += ws[w];
  for (u32 k = 0; k < 4; ++k)
    if (first + k < n) out[first + k] = base + item[k];
}
