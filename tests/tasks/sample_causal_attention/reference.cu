// evo:launch attention(Q, K, V, O, scale, S) grid(ceil_div(S, 64), 2 * H) block(64)
#include <cuda_bf16.h>

__device__ double Score(const __nv_bfloat16* q, const __nv_bfloat16* k, double scale) {
  double sum = 0;
  for (int d = 0; d < 16; ++d) sum += double(__bfloat162float(q[d])) * double(__bfloat162float(k[d]));
  return sum * scale;
}

__global__ void attention(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, double* O, float scale, int length) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= length) return;
  const int head = blockIdx.y * length * 16, shared = blockIdx.y / 2 * length * 16;
  double largest = -1e300;
  for (int key = 0; key <= row; ++key) largest = fmax(largest, Score(Q + head + row * 16, K + shared + key * 16, scale));
  for (int d = 0; d < 16; ++d) {
    double sum = 0, weights = 0;
    for (int key = 0; key <= row; ++key) {
      const double weight = exp(Score(Q + head + row * 16, K + shared + key * 16, scale) - largest);
      weights += weight;
      sum += weight * double(__bfloat162float(V[shared + key * 16 + d]));
    }
    O[head + row * 16 + d] = sum / weights;
  }
}
