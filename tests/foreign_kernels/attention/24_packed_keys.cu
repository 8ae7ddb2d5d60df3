// Written together with what it needs. Queries of their own; keys and values in one matrix, a head's values behind its keys.
// buffers: q bf16 in [B, N, H, 64], kv bf16 in [B, M, H, 2, 64], out bf16 out [B, N, H, 64]
// sizes: B=1 N=20 M=41 H=2; B=2 N=7 M=5 H=1
#include <cuda_bf16.h>

constexpr int kHead = 64;

// evo:launch cross_attention(out, q, kv, N, M, f32(0.125)) grid(ceil_div(N, 32), H, B) block(32)
__global__ void cross_attention(__nv_bfloat16* out, const __nv_bfloat16* q, const __nv_bfloat16* kv, int N, int M, float scale) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  const int heads = gridDim.y;
  if (row < N) {
    const __nv_bfloat16* query = q + ((size_t)(blockIdx.z * N + row) * heads + blockIdx.y) * kHead;
    const __nv_bfloat16* pairs = kv + ((size_t)blockIdx.z * M * heads + blockIdx.y) * 2 * kHead;
    const size_t step = (size_t)heads * 2 * kHead;
    float top = -INFINITY, sum = 0.0f, acc[kHead] = {};
    for (int j = 0; j < M; ++j) {
      float s = 0.0f;
      for (int d = 0; d < kHead; ++d) s += __bfloat162float(query[d]) * __bfloat162float(pairs[j * step + d]);
      s *= scale;
      const float next = fmaxf(top, s), fade = expf(top - next), w = expf(s - next);
      sum = sum * fade + w;
      for (int d = 0; d < kHead; ++d) acc[d] = acc[d] * fade + w * __bfloat162float(pairs[j * step + kHead + d]);
      top = next;
    }
    for (int d = 0; d < kHead; ++d)
      out[((size_t)(blockIdx.z * N + row) * heads + blockIdx.y) * kHead + d] = __float2bfloat16(acc[d] / sum);
  }
}
