// Decoding, one thread a head of a batch: 64 threads of a block have 64 heads; keys in [B, HKV, L, D].
// buffers: q bf16 in [B, HQ, 32], k bf16 in [B, HKV, L, 32], v bf16 in [B, HKV, L, 32], o bf16 out [B, HQ, 32]
// sizes: B=2 HQ=6 HKV=2 L=70; B=1 HQ=4 HKV=4 L=9
#include <cuda_bf16.h>

#define D 32

// evo:launch single_query(q, k, v, o, HQ, HKV, L, f32(0.17677669)) grid(ceil_div(HQ, 64), B) block(64)
__global__ void single_query(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, int HQ,
                             int HKV, int L, float scale) {
  int h = blockIdx.x * 64 + threadIdx.x;
  int b = blockIdx.y;
  if (h >= HQ) return;
  int hk = h * HKV / HQ;
  const __nv_bfloat16* qh = q + (b * HQ + h) * D;
  const __nv_bfloat16* kh = k + (size_t)(b * HKV + hk) * L * D;
  const __nv_bfloat16* vh = v + (size_t)(b * HKV + hk) * L * D;
  float maxi = -1e30f;
  for (int i = 0; i < L; i++) {
    float dot = 0.f;
    for (int d = 0; d < D; d++) dot += __bfloat162float(qh[d]) * __bfloat162float(kh[i * D + d]);
    maxi = fmaxf(maxi, dot * scale);
  }
  float acc[D];
  for (int d = 0; d < D; d++) acc[d] = 0.f;
  float norm = 0.f;
  for (int i = 0; i < L; i++) {
    float dot = 0.f;
    for (int d = 0; d < D; d++) dot += __bfloat162float(qh[d]) * __bfloat162float(kh[i * D + d]);
    float p = expf(dot * scale - maxi);
    norm += p;
    for (int d = 0; d < D; d++) acc[d] += p * __bfloat162float(vh[i * D + d]);
  }
  for (int d = 0; d < D; d++) o[(b * HQ + h) * D + d] = __float2bfloat16(acc[d] / norm);
}
