// Rows keep their largest score and their sum for the gradient of the queries; blocks have a thread for each element of a row.
// buffers: Q f32 in [N, WIDTH], K f32 in [N, WIDTH], V f32 in [N, WIDTH], G f32 in [N, WIDTH], O f32 out [N, WIDTH], dQ f32 out [N, WIDTH]
// sizes: N=20 WIDTH=16; N=37 WIDTH=64
// evo:workspace tops f32 [N]
// evo:workspace sums f32 [N]
// evo:launch attend(Q, K, V, O, tops, sums, N, WIDTH, f32(0.125)) grid(N) block(WIDTH) shared(WIDTH * 4)
// evo:launch query_gradient(Q, K, V, O, G, tops, sums, dQ, N, WIDTH, f32(0.125)) grid(N) block(WIDTH) shared(WIDTH * 4)
#include <math.h>

__device__ float block_sum(float mine, float* part) {
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  const float all = part[0];
  __syncthreads();
  return all;
}
__global__ void attend(const float* Q, const float* K, const float* V, float* O, float* tops, float* sums, int N, int WIDTH,
                       float factor) {
  extern __shared__ float part[];
  const int row = blockIdx.x, c = threadIdx.x;
  const float mine = Q[row * WIDTH + c];
  float top = -1e30f, sum = 0.f, out = 0.f;
  for (int key = 0; key < N; key++) {
    part[c] = mine * K[key * WIDTH + c];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
      if (c < half) part[c] += part[c + half];
      __syncthreads();
    }
    const float score = part[0] * factor;
    __syncthreads();
    const float high = fmaxf(top, score), old = expf(top - high), now = expf(score - high);
    sum = sum * old + now;
    out = out * old + now * V[key * WIDTH + c];
    top = high;
  }
  O[row * WIDTH + c] = out / sum;
  if (c == 0) {
    tops[row] = top;
    sums[row] = sum;
  }
}
__global__ void query_gradient(const float* Q, const float* K, const float* V, const float* O, const float* G, const float* tops,
                               const float* sums, float* dQ, int N, int WIDTH, float factor) {
  extern __shared__ float part[];
  const int row = blockIdx.x, c = threadIdx.x;
  const float mine = Q[row * WIDTH + c], slope = G[row * WIDTH + c];
  const float both = block_sum(slope * O[row * WIDTH + c], part);
  float all = 0.f;
  for (int key = 0; key < N; key++) {
    const float score = block_sum(mine * K[key * WIDTH + c], part) * factor;
    const float weight = expf(score - tops[row]) / sums[row];
    const float of_weight = block_sum(slope * V[key * WIDTH + c], part);
    all += weight * (of_weight - both) * factor * K[key * WIDTH + c];
  }
  dQ[row * WIDTH + c] = all;
}
