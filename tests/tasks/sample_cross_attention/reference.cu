// evo:launch cross_reference(X, C, D, Y, N, M, H) grid(ceil_div(N, 64), H) block(64)
#include <cuda_bf16.h>

__device__ double Score(const __nv_bfloat16* x, const __nv_bfloat16* c) {
  double sum = 0;
  for (int d = 0; d < 64; ++d) sum += double(__bfloat162float(x[d])) * double(__bfloat162float(c[d]));
  return sum / 8;
}

__global__ void cross_reference(const __nv_bfloat16* X, const __nv_bfloat16* C, const __nv_bfloat16* D, double* Y, int n, int m,
                                int heads) {
  const int row = blockIdx.x * 64 + threadIdx.x, head = blockIdx.y;
  if (row >= n) return;
  const __nv_bfloat16* x = X + ((long long)row * heads + head) * 64;
  double largest = -INFINITY, weights = 0;
  for (int k = 0; k < m; ++k) largest = fmax(largest, Score(x, C + ((long long)k * heads + head) * 64));
  for (int k = 0; k < m; ++k) weights += exp(Score(x, C + ((long long)k * heads + head) * 64) - largest);
  for (int d = 0; d < 64; ++d) {
    double sum = 0;
    for (int k = 0; k < m; ++k) {
      const double weight = exp(Score(x, C + ((long long)k * heads + head) * 64) - largest) / weights;
      sum += weight * double(__bfloat162float(D[((long long)k * heads + head) * 64 + d]));
    }
    Y[((long long)row * heads + head) * 64 + d] = sum;
  }
}
