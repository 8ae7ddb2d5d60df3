// evo:launch attention(Q, K, V, O, T) grid(ceil_div(T, 64), H) block(64)
#include <cuda_fp16.h>

__device__ double Score(const half* q, const half* k) {
  double sum = 0;
  for (int d = 0; d < 32; ++d) sum += double(__half2float(q[d])) * double(__half2float(k[d]));
  return sum / sqrt(32.0);
}

__global__ void attention(const half* Q, const half* K, const half* V, double* O, int tokens) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= tokens) return;
  const int step = gridDim.y * 32, at = blockIdx.y * 32;
  double largest = -1e300, weights = 0;
  for (int key = 0; key < tokens; ++key) largest = fmax(largest, Score(Q + row * step + at, K + key * step + at));
  for (int d = 0; d < 32; ++d) {
    double sum = 0;
    weights = 0;
    for (int key = 0; key < tokens; ++key) {
      const double weight = exp(Score(Q + row * step + at, K + key * step + at) - largest);
      weights += weight;
      sum += weight * double(__half2float(V[key * step + at + d]));
    }
    O[row * step + at + d] = sum / weights;
  }
}
