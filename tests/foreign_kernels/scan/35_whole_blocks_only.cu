// buffers: v f32 in [N], s f32 out [N]
// sizes: N=128; N=384; N=1280
// evo:param TILE 64 128
// evo:workspace carry f32 [N / TILE]
// evo:launch scan_tiles(v, s, carry) grid(N / TILE) block(TILE)
// evo:launch scan_carries(carry, N / TILE) grid(1) block(1)
// evo:launch add_carries(s, carry) grid(N / TILE) block(TILE)
#ifndef TILE
#define TILE 128
#endif

// The number of elements is a multiple of the block, and no thread looks where they end.
__global__ void scan_tiles(const float *v, float *s, float *carry) {
  assert(blockDim.x == TILE);
  __shared__ float tile[TILE];
  const int me = threadIdx.x, at = blockIdx.x * TILE + me;
  tile[me] = v[at];
  __syncthreads();
  for (int far = 1; far < TILE; far <<= 1) {
    float before = me >= far ? tile[me - far] : 0.0f;
    __syncthreads();
    tile[me] += before;
    __syncthreads();
  }
  s[at] = tile[me];
  if (me == TILE - 1) carry[blockIdx.x] = tile[me];
}

__global__ void scan_carries(float *carry, int tiles) {
  for (int i = 1; i < tiles; ++i) carry[i] += carry[i - 1];
}

__global__ void add_carries(float *s, const float *carry) {
  if (blockIdx.x > 0) s[blockIdx.x * TILE + threadIdx.x] += carry[blockIdx.x - 1];
}
