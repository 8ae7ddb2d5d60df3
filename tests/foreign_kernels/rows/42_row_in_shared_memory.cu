// buffers: X f32 in [M, N], Y f32 out [M, N]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:launch softmax_staged(X, Y, N) grid(M) block(128) shared((N + 128) * 4)
#include <cfloat>

// The row is loaded once; behind it threads leave what they have.
__global__ void softmax_staged(const float *x, float *y, const int n) {
  extern __shared__ float smem[];
  float *row = smem;
  float *partial = smem + n;
  const int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x) row[i] = x[blockIdx.x * n + i];
  __syncthreads();
  float best = -FLT_MAX;
  for (int i = t; i < n; i += blockDim.x) best = max(best, row[i]);
  partial[t] = best;
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    __syncthreads();
    if (t < s && partial[t] < partial[t + s]) partial[t] = partial[t + s];
  }
  __syncthreads();
  const float largest = partial[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = t; i < n; i += blockDim.x) {
    float e = __expf(row[i] - largest);
    row[i] = e;
    sum += e;
  }
  partial[t] = sum;
  __syncthreads();
  if (t == 0) {
    float all = 0.f;
    for (int k = 0; k < blockDim.x; k++) all += partial[k];
    partial[0] = 1.f / all;
  }
  __syncthreads();
  const float inverse = partial[0];
  for (int i = t; i < n; i += blockDim.x) y[blockIdx.x * n + i] = row[i] * inverse;
}
