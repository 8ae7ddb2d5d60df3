// Grouped queries: several heads of queries have one head of keys and values. A block of threads per head and 64 rows.
// buffers: q f16 in [B, HQ, S, 128], k f16 in [B, HKV, S, 128], v f16 in [B, HKV, S, 128], o f16 out [B, HQ, S, 128]
// sizes: B=1 HQ=4 HKV=2 S=19; B=2 HQ=3 HKV=1 S=6
#include <cuda_fp16.h>

constexpr int kDim = 128;

// evo:launch gqa_forward(q, k, v, o, HQ, HKV, S, f32(0.08838834764)) grid(ceil_div(S, 64), HQ, B) block(64)
__global__ void gqa_forward(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v,
                            half* __restrict__ o, int heads_q, int heads_kv, int seqlen, float softmax_scale) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  const int hq = blockIdx.y;
  const int b = blockIdx.z;
  if (m >= seqlen) return;
  const int group = heads_q / heads_kv;
  const int hkv = hq / group;
  const half* qp = q + (((size_t)b * heads_q + hq) * seqlen + m) * kDim;
  const half* kp = k + ((size_t)b * heads_kv + hkv) * seqlen * kDim;
  const half* vp = v + ((size_t)b * heads_kv + hkv) * seqlen * kDim;
  half* op = o + (((size_t)b * heads_q + hq) * seqlen + m) * kDim;

  float acc[kDim];
  for (int d = 0; d < kDim; ++d) acc[d] = 0.f;
  float mx = -3.4e38f;
  float sum = 0.f;
  for (int n = 0; n < seqlen; ++n) {
    float s = 0.f;
    for (int d = 0; d < kDim; d += 4) {
      s += __half2float(qp[d]) * __half2float(kp[n * kDim + d]);
      s += __half2float(qp[d + 1]) * __half2float(kp[n * kDim + d + 1]);
      s += __half2float(qp[d + 2]) * __half2float(kp[n * kDim + d + 2]);
      s += __half2float(qp[d + 3]) * __half2float(kp[n * kDim + d + 3]);
    }
    s *= softmax_scale;
    if (s > mx) {
      const float shrink = expf(mx - s);
      for (int d = 0; d < kDim; ++d) acc[d] *= shrink;
      sum *= shrink;
      mx = s;
    }
    const float w = expf(s - mx);
    sum += w;
    for (int d = 0; d < kDim; ++d) acc[d] += w * __half2float(vp[n * kDim + d]);
  }
  const float inv = 1.f / sum;
  for (int d = 0; d < kDim; ++d) op[d] = __float2half(acc[d] * inv);
}
