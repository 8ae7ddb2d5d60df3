// Careless: an online softmax that rescales the sum of the weights and forgets the sums of the values. Wrong where a later score is the
// largest.
// evo:launch no_rescale(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_fp16.h>

constexpr int kDepth = 64;

__device__ float Score(const half* query, const half* key) {
  float sum = 0.0f;
  for (int d = 0; d < kDepth; ++d) sum += __half2float(query[d]) * __half2float(key[d]);
  return sum;
}

__global__ void no_rescale(const half* Q, const half* K, const half* V, half* O, float scale, int length, int depth) {
  if (depth != kDepth) return;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= length) return;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * kDepth;
  const half* query = Q + head + (long long)row * kDepth;
  const half* keys = K + head;
  const half* values = V + head;
  half* out = O + head + (long long)row * kDepth;
  const int end = length;
  float largest = -3.0e38f;
  float weights = 0.0f;
  float sums[kDepth] = {};
  for (int k = 0; k < end; ++k) {
    const float score = Score(query, keys + (long long)k * kDepth) * scale;
    const float next = fmaxf(largest, score);
    const float fade = expf(largest - next);
    const float weight = expf(score - next);
    largest = next;
    weights = weights * fade + weight;
    for (int d = 0; d < kDepth; ++d) sums[d] = sums[d] + weight * __half2float(values[(long long)k * kDepth + d]);
  }
  for (int d = 0; d < kDepth; ++d) out[d] = __float2half(sums[d] / weights);
}
