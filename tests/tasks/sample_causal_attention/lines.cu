// Keys and values are those of blockIdx.y / 2; a row sees the keys up to itself.
// evo:param COLUMNS 8 16
// evo:launch causal(Q, K, V, O, S, scale) grid(ceil_div(S, 64), 2 * H) block(64)
#include <cuda_bf16.h>

#ifndef COLUMNS
#define COLUMNS 8
#endif

#define ROW 16

typedef __nv_bfloat16 bf16;

__device__ __forceinline__ float dot(const bf16* a, const bf16* b) {
  float result = 0.0f;
#pragma unroll
  for (int c = 0; c < ROW; ++c) result += __bfloat162float(a[c]) * __bfloat162float(b[c]);
  return result;
}

__global__ void causal(const bf16* Q, const bf16* K, const bf16* V, bf16* O, int S, float temperature) {
  const int row = threadIdx.x + blockIdx.x * 64;
  if (S <= row) return;
  const int group = blockIdx.y / 2;
  const long long own = static_cast<long long>(blockIdx.y) * S * ROW;
  const bf16* k = K + (long long)group * S * ROW;
  const bf16* v = &V[(long long)group * S * ROW];
  const bf16* q = Q + own + row * ROW;
  float highest = -3.0e38f;
  for (int key = 0; key <= row; ++key) highest = max(highest, dot(q, k + key * ROW) * temperature);
  float sum = 0.0f;
  for (int key = 0; key <= row; ++key) sum += expf(temperature * dot(q, k + key * ROW) - highest);
  const float inverse = 1.0f / sum;
  for (int first = 0; first < ROW; first += COLUMNS) {
    for (int c = first; c < first + COLUMNS; ++c) {
      float value = 0.0f;
      int key = 0;
      while (key <= row) {
        value += expf(temperature * dot(q, k + key * ROW) - highest) * inverse * __bfloat162float(v[key * ROW + c]);
        ++key;
      }
      O[own + row * ROW + c] = __float2bfloat16(value);
    }
  }
}
