// Honest: even and odd keys in two sums, powers of two with the factor log2(e) in the scale.
// evo:launch honest_two_sums(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_fp16.h>

constexpr int kDepth = 64;

__device__ float Score(const half* query, const half* key) {
  float sum = 0.0f;
  for (int d = 0; d < kDepth; ++d) sum += __half2float(query[d]) * __half2float(key[d]);
  return sum;
}

__global__ void honest_two_sums(const half* Q, const half* K, const half* V, half* O, float scale, int length, int depth) {
  if (depth != kDepth) return;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= length) return;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * kDepth;
  const half* query = Q + head + (long long)row * kDepth;
  const half* keys = K + head;
  const half* values = V + head;
  half* out = O + head + (long long)row * kDepth;
  float largest = -3.0e38f;
  for (int k = 0; k < length; ++k) largest = fmaxf(largest, Score(query, keys + (long long)k * kDepth) * (scale * 1.44269504f));
  float weights[2] = {};
  float sums[2][kDepth] = {};
  for (int k = 0; k < length; ++k) {
    const float weight = exp2f(Score(query, keys + (long long)k * kDepth) * (scale * 1.44269504f) - largest);
    weights[k % 2] += weight;
    for (int d = 0; d < kDepth; ++d) sums[k % 2][d] = fmaf(weight, __half2float(values[(long long)k * kDepth + d]), sums[k % 2][d]);
  }
  const float inverse = __fdividef(1.0f, weights[0] + weights[1]);
  for (int d = 0; d < kDepth; ++d) out[d] = __float2half((sums[0][d] + sums[1][d]) * inverse);
}
