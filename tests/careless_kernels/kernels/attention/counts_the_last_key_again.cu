// Careless: takes four keys at a time and reads the last one again for those that are missing. Wrong where S is no multiple of 4.
// evo:launch counts_the_last_key_again(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_fp16.h>

constexpr int kDepth = 64;

__device__ float Score(const half* query, const half* key) {
  float sum = 0.0f;
  for (int d = 0; d < kDepth; ++d) sum += __half2float(query[d]) * __half2float(key[d]);
  return sum;
}

__global__ void counts_the_last_key_again(const half* Q, const half* K, const half* V, half* O, float scale, int length, int depth) {
  if (depth != kDepth) return;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= length) return;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * kDepth;
  const half* query = Q + head + (long long)row * kDepth;
  const half* keys = K + head;
  const half* values = V + head;
  half* out = O + head + (long long)row * kDepth;
  const int end = (length + 3) / 4 * 4;
  float largest = Score(query, keys) * scale;
  for (int k = 1; k < end; ++k) largest = fmaxf(largest, Score(query, keys + (long long)min(k, length - 1) * kDepth) * scale);
  float weights = 0.0f;
  float sums[kDepth] = {};
  for (int k = 0; k < end; ++k) {
    const float weight = expf(Score(query, keys + (long long)min(k, length - 1) * kDepth) * scale - largest);
    weights += weight;
    for (int d = 0; d < kDepth; ++d) sums[d] += weight * __half2float(values[(long long)min(k, length - 1) * kDepth + d]);
  }
  for (int d = 0; d < kDepth; ++d) out[d] = __float2half(sums[d] / weights);
}
