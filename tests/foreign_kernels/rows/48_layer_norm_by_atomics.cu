// buffers: X f32 in [M, N], G f32 in [N], B f32 in [N], Y f32 out [M, N], MEAN f32 out [M], RSTD f32 out [M]
// sizes: M=1 N=2; M=7 N=300; M=3 N=1025
// evo:launch layer_norm_atomics(X, G, B, Y, MEAN, RSTD, M, N) grid(M) block(96)
#define EPSILON 1e-5f
#include <cassert>

__global__ void layer_norm_atomics(const float* x, const float* gamma, const float* beta, float* y, float* mean, float* rstd,
                                   int m, int n) {
  __shared__ float sum, squares;
  assert(n > 0);
  const float* row = x + static_cast<size_t>(blockIdx.x) * n;
  if (threadIdx.x == 0) sum = squares = 0.0f;
  __syncthreads();
  float own = 0.0f, own_squares = 0.0f;
  int i = threadIdx.x;
  while (i < n) {
    own += row[i];
    own_squares += row[i] * row[i];
    i += blockDim.x;
  }
  atomicAdd(&sum, own);
  atomicAdd(&squares, own_squares);
  __syncthreads();
  const float mu = sum / n, r = rsqrtf(squares / n - mu * mu + EPSILON);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = mu;
    rstd[blockIdx.x] = r;
  }
  for (i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = (row[i] - mu) * r * gamma[i] + beta[i];
}
