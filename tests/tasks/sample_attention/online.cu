// One pass over the keys with sums that shrink when a larger score comes.
// evo:launch attend(O, Q, K, V, T, H) grid(ceil_div(T, 128), H) block(128)
#include <cuda_fp16.h>

constexpr int kDim = 32;

__global__ void attend(half* __restrict__ out, const half* __restrict__ queries, const half* __restrict__ keys,
                       const half* __restrict__ values, int tokens, int heads) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token < tokens) {
    const int head = blockIdx.y * kDim;
    const float scale = 1.4426950409f * rsqrtf((float)kDim);
    float q[kDim], acc[kDim] = {0.0f};
    for (int d = 0; d < kDim; d++) q[d] = __half2float(queries[(size_t)token * heads * kDim + head + d]) * scale;
    float m = -INFINITY, l = 0.0f;
    const half* k = keys + head;
    const half* v = values + head;
    for (int j = 0; j < tokens; j++) {
      float s = 0.0f;
      for (int d = 0; d < kDim; d++) s = fmaf(__half2float(__ldg(&k[d])), q[d], s);
      const float next = s > m ? s : m;
      const float shrink = exp2f(m - next), p = exp2f(s - next);
      l = l * shrink + p;
      for (int d = 0; d < kDim; d++) acc[d] = acc[d] * shrink + p * __half2float(v[d]);
      m = next;
      k += heads * kDim;
      v += heads * kDim;
    }
    for (int d = 0; d < kDim; d++) out[(size_t)token * heads * kDim + head + d] = __float2half(acc[d] / l);
  }
}
