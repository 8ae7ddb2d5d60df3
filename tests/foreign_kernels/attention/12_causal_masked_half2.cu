// One thread a query, half2 loads, future keys set to -INFINITY, layout [B, S, H, D].
// buffers: q f16 in [B, S, H, 64], k f16 in [B, S, H, 64], v f16 in [B, S, H, 64], out f16 out [B, S, H, 64]
// sizes: B=1 S=37 H=2; B=2 S=6 H=1
#include <cuda_fp16.h>

constexpr int kHeadDim = 64;

// evo:launch causal_attention_bshd(q, k, v, out, S, H, f32(0.125)) grid(ceil_div(S, 64), H, B) block(64)
__global__ void causal_attention_bshd(const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
                                      __half* __restrict__ out, int seq_len, int num_heads, float sm_scale) {
  const int qi = blockIdx.x * blockDim.x + threadIdx.x;
  if (qi >= seq_len) return;
  const int head = blockIdx.y;
  const int batch = blockIdx.z;
  const int token_stride = num_heads * kHeadDim;
  const size_t head_base = (size_t)batch * seq_len * token_stride + head * kHeadDim;

  float2 qf[kHeadDim / 2];
  const __half2* q2 = reinterpret_cast<const __half2*>(q + head_base + (size_t)qi * token_stride);
#pragma unroll
  for (int c = 0; c < kHeadDim / 2; ++c) qf[c] = __half22float2(q2[c]);

  float2 acc[kHeadDim / 2];
#pragma unroll
  for (int c = 0; c < kHeadDim / 2; ++c) acc[c] = make_float2(0.f, 0.f);
  float running_max = -INFINITY;
  float denom = 0.f;

  for (int kj = 0; kj < seq_len; ++kj) {
    const __half2* k2 = reinterpret_cast<const __half2*>(k + head_base + (size_t)kj * token_stride);
    float logit = 0.f;
#pragma unroll
    for (int c = 0; c < kHeadDim / 2; ++c) {
      const float2 kf = __half22float2(k2[c]);
      logit += qf[c].x * kf.x + qf[c].y * kf.y;
    }
    logit = kj > qi ? -INFINITY : logit * sm_scale;
    const float new_max = fmaxf(running_max, logit);
    const float rescale = __expf(running_max - new_max);
    const float weight = __expf(logit - new_max);
    denom = denom * rescale + weight;
    const __half2* v2 = reinterpret_cast<const __half2*>(v + head_base + (size_t)kj * token_stride);
#pragma unroll
    for (int c = 0; c < kHeadDim / 2; ++c) {
      const float2 vf = __half22float2(v2[c]);
      acc[c].x = acc[c].x * rescale + weight * vf.x;
      acc[c].y = acc[c].y * rescale + weight * vf.y;
    }
    running_max = new_max;
  }

  __half2* o2 = reinterpret_cast<__half2*>(out + head_base + (size_t)qi * token_stride);
#pragma unroll
  for (int c = 0; c < kHeadDim / 2; ++c) o2[c] = __floats2half2_rn(acc[c].x / denom, acc[c].y / denom);
}
