// One block a row: scores in dynamic shared memory, reductions by a tree, one thread a column of the output.
// buffers: Q f16 in [B, H, S, 32], K f16 in [B, H, S, 32], V f16 in [B, H, S, 32], O f16 out [B, H, S, 32]
// sizes: B=1 H=2 S=40; B=2 H=1 S=7
#include <cuda_fp16.h>
#define THREADS 64

// evo:launch attention_block_row(Q, K, V, O, S, 32, f32(0.17677669)) grid(S, B * H) block(64) shared((S + 64) * 4)
__global__ void attention_block_row(const __half* Q, const __half* K, const __half* V, __half* O, int S, int D, float scale) {
  extern __shared__ float smem[];
  float* scores = smem;
  float* red = smem + S;
  const int row = blockIdx.x;
  const int tid = threadIdx.x;
  const size_t base = (size_t)blockIdx.y * S * D;
  const __half* q = Q + base + (size_t)row * D;

  float local_max = -1e30f;
  for (int j = tid; j < S; j += blockDim.x) {
    float dot = 0.f;
    for (int d = 0; d < D; ++d) dot += __half2float(q[d]) * __half2float(K[base + (size_t)j * D + d]);
    dot *= scale;
    scores[j] = dot;
    local_max = fmaxf(local_max, dot);
  }
  red[tid] = local_max;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  const float row_max = red[0];
  __syncthreads();

  float local_sum = 0.f;
  for (int j = tid; j < S; j += blockDim.x) {
    scores[j] = expf(scores[j] - row_max);
    local_sum += scores[j];
  }
  red[tid] = local_sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  const float inv = 1.f / red[0];

  for (int d = tid; d < D; d += blockDim.x) {
    float acc = 0.f;
    for (int j = 0; j < S; ++j) acc += scores[j] * __half2float(V[base + (size_t)j * D + d]);
    O[base + (size_t)row * D + d] = __float2half(acc * inv);
  }
}
