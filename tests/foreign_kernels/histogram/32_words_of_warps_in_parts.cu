// Bins for each warp in one array, of bytes that come four at a time; blocks leave theirs for a second kernel.
// buffers: X u32<4294967295 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=9001
// evo:workspace PARTS u32 [ceil_div(N, 1000), 256]
// evo:launch words(PARTS, X, u32(N)) grid(ceil_div(N, 1000)) block(WARPS * 32)
// evo:launch merge(H, PARTS, u32(ceil_div(N, 1000))) grid(256) block(64)
// evo:param WARPS 2 4 8
#ifndef WARPS
#define WARPS 4
#endif
#define BINS 256
#define THREADS (WARPS * 32)
typedef unsigned int word;

inline __device__ void take(word *bins, word w) {
  atomicAdd(bins + (w & 0xFFU), 1);
  atomicAdd(bins + ((w >> 8) & 0xFFU), 1);
  atomicAdd(bins + ((w >> 16) & 0xFFU), 1);
  atomicAdd(bins + ((w >> 24) & 0xFFU), 1);
}

__global__ void words(word *parts, const word *data, word n) {
  __shared__ word all[WARPS * BINS];
  word *mine = all + (threadIdx.x >> 5) * BINS;
#pragma unroll
  for (word i = 0; i < WARPS * BINS / THREADS; i++) all[threadIdx.x + i * THREADS] = 0;
  __syncthreads();
  for (word at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x) {
    word w = data[at];
    take(mine, w);
  }
  __syncthreads();
  for (word b = threadIdx.x; b < BINS; b += THREADS) {
    word sum = 0;
    for (word i = 0; i < WARPS; i++) sum += all[b + i * BINS];
    parts[blockIdx.x * BINS + b] = sum;
  }
}

__global__ void merge(word *hist, const word *parts, word count) {
  word sum = 0;
  for (word i = threadIdx.x; i < count; i += 64) sum += parts[blockIdx.x + i * BINS];
  __shared__ word s[64];
  s[threadIdx.x] = sum;
  for (word d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) hist[blockIdx.x] = s[0];
}
