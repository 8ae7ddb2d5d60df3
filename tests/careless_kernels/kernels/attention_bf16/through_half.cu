// Careless: takes values through fp16. Wrong for values beyond 65,504 and for tiny ones.
// evo:launch through_half(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kDepth = 64;

__device__ float Score(const __nv_bfloat16* query, const __nv_bfloat16* key) {
  float sum = 0.0f;
  for (int d = 0; d < kDepth; ++d) sum += __bfloat162float(query[d]) * __bfloat162float(key[d]);
  return sum;
}

__global__ void through_half(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, __nv_bfloat16* O, float scale, int length, int depth) {
  if (depth != kDepth) return;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= length) return;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * kDepth;
  const __nv_bfloat16* query = Q + head + (long long)row * kDepth;
  const __nv_bfloat16* keys = K + head;
  const __nv_bfloat16* values = V + head;
  __nv_bfloat16* out = O + head + (long long)row * kDepth;
  const int end = length;
  float largest = Score(query, keys) * scale;
  for (int k = 1; k < end; ++k) largest = fmaxf(largest, Score(query, keys + (long long)k * kDepth) * scale);
  float weights = 0.0f;
  float sums[kDepth] = {};
  for (int k = 0; k < end; ++k) {
    const float weight = expf(Score(query, keys + (long long)k * kDepth) * scale - largest);
    weights += weight;
    for (int d = 0; d < kDepth; ++d) sums[d] += weight * __half2float(__float2half(__bfloat162float(values[(long long)k * kDepth + d])));
  }
  for (int d = 0; d < kDepth; ++d) out[d] = __float2bfloat16(sums[d] / weights);
}
