// Accelerations by all pairs: a block brings BLOCK bodies at a time into shared memory. LANES threads share ITEMS bodies: each
// takes every LANES-th body of the tile, and shuffles add up their sums.
// evo:param BLOCK 64 128 256 512
// evo:param LANES 1 2 4 8 16 32
// evo:param ITEMS 1 2 4
// evo:param UNROLL 1 2 4 8
// evo:launch n_body_tiled(P, M, A, eps, N) grid(ceil_div(N, BLOCK / LANES * ITEMS)) block(BLOCK)

// Threads of a block, and bodies of a tile.
#ifndef BLOCK
#define BLOCK 128
#endif

// Threads that share a body.
#ifndef LANES
#define LANES 4
#endif

// Bodies of a thread.
#ifndef ITEMS
#define ITEMS 1
#endif

// Bodies of the tile that an iteration adds.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void __launch_bounds__(BLOCK) n_body_tiled(const float* __restrict__ P, const float* __restrict__ M,
                                                      float* __restrict__ A, float eps, int n) {
  __shared__ float4 tile[BLOCK];
  const int lane = threadIdx.x % LANES;
  const long long first = ((long long)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES) * ITEMS;
  float position[ITEMS][3] = {};
  float sums[ITEMS][3] = {};
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      if (first + i < n) position[i][d] = P[3 * (first + i) + d];
    }
  }
  for (int start = 0; start < n; start += BLOCK) {
    const long long j = start + threadIdx.x;
    // Beyond the last body are some without mass.
    tile[threadIdx.x] = j < n ? make_float4(P[3 * j], P[3 * j + 1], P[3 * j + 2], M[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll kUnroll
    for (int k = lane; k < BLOCK; k += LANES) {
      const float4 body = tile[k];
#pragma unroll
      for (int i = 0; i < ITEMS; ++i) {
        const float dx = body.x - position[i][0];
        const float dy = body.y - position[i][1];
        const float dz = body.z - position[i][2];
        const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + eps * eps);
        const float factor = body.w * inverse * inverse * inverse;
        sums[i][0] += factor * dx;
        sums[i][1] += factor * dy;
        sums[i][2] += factor * dz;
      }
    }
    __syncthreads();   // all threads are done with the tile before the next one replaces it
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      for (int offset = LANES / 2; offset > 0; offset /= 2) sums[i][d] += __shfl_xor_sync(kAllLanes, sums[i][d], offset);
      if (lane == 0 && first + i < n) A[3 * (first + i) + d] = sums[i][d];
    }
  }
}
