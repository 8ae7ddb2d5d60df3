// buffers: D f32 in [N], I i32 out [1], V f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:launch nearest(D, I, V, N) grid(1) block(1024)
#include <float.h>

struct Best {
  float dist;
  int index;
};

__device__ inline Best closer(Best a, Best b) {
  if (b.dist < a.dist || (b.dist == a.dist && b.index < a.index)) return b;
  return a;
}

// Where the smallest value is; the first of equals.
__global__ void nearest(const float* dist, int* index, float* value, int n) {
  __shared__ Best best[32];
  Best mine = {FLT_MAX, n};
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine = closer(mine, Best{dist[i], i});
  for (int d = 16; d > 0; d /= 2) {
    Best other;
    other.dist = __shfl_down_sync(0xffffffff, mine.dist, d);
    other.index = __shfl_down_sync(0xffffffff, mine.index, d);
    mine = closer(mine, other);
  }
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) mine = closer(mine, best[w]);
    *index = mine.index;
    *value = mine.dist;
  }
}
