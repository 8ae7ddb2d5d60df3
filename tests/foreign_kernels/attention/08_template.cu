// As in an extension of a framework: a template over the type and the size of a head, scores in a function.
// buffers: Q f16 in [B, H, N, 64], K f16 in [B, H, M, 64], V f16 in [B, H, M, 64], O f16 out [B, H, N, 64]
// sizes: B=1 H=2 N=20 M=33; B=2 H=1 N=7 M=5
#include <cuda_fp16.h>

template <typename scalar_t, int HEAD>
__device__ __forceinline__ float qk_dot(const scalar_t* q, const scalar_t* k) {
  float sum = 0.0f;
#pragma unroll
  for (int d = 0; d < HEAD; ++d) sum += static_cast<float>(q[d]) * static_cast<float>(k[d]);
  return sum;
}

// evo:launch mha_forward_kernel<__half, 64>(Q, K, V, O, N, M, f32(0.125)) grid(ceil_div(N, 32), B * H) block(32)
template <typename scalar_t, int HEAD>
__global__ void mha_forward_kernel(const scalar_t* __restrict__ query, const scalar_t* __restrict__ key,
                                   const scalar_t* __restrict__ value, scalar_t* __restrict__ output, const int q_len,
                                   const int kv_len, const float scale) {
  const int q_idx = blockIdx.x * blockDim.x + threadIdx.x;
  const int bh = blockIdx.y;
  if (q_idx >= q_len) return;
  const scalar_t* q = query + (bh * q_len + q_idx) * HEAD;
  const scalar_t* k = key + bh * kv_len * HEAD;
  const scalar_t* v = value + bh * kv_len * HEAD;
  float max_val = -INFINITY;
  float sum_exp = 0.0f;
  float acc[HEAD];
  for (int d = 0; d < HEAD; ++d) acc[d] = 0.0f;
  for (int j = 0; j < kv_len; ++j) {
    const float s = qk_dot<scalar_t, HEAD>(q, k + j * HEAD) * scale;
    const float new_max = max(max_val, s);
    const float correction = expf(max_val - new_max);
    const float w = expf(s - new_max);
    sum_exp = sum_exp * correction + w;
    for (int d = 0; d < HEAD; ++d) acc[d] = acc[d] * correction + w * static_cast<float>(v[j * HEAD + d]);
    max_val = new_max;
  }
  for (int d = 0; d < HEAD; ++d) output[(bh * q_len + q_idx) * HEAD + d] = static_cast<scalar_t>(acc[d] / sum_exp);
}
