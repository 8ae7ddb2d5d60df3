// Online softmax, causal, [batch, token, head, dimension] by strides, bfloat16, pointers for the rows.
// buffers: Q bf16 in [B, N, H, 32], K bf16 in [B, N, H, 32], V bf16 in [B, N, H, 32], O bf16 out [B, N, H, 32]
// sizes: B=1 H=2 N=40; B=2 H=3 N=7
#include <cuda_bf16.h>

constexpr int D = 32;

// evo:launch causal_online(Q, K, V, O, N, H, i64(N * H * 32), i64(H * 32), i64(32)) grid(ceil_div(N, 64), B * H) block(64)
__global__ void causal_online(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                              const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ out, int n, int heads,
                              long long stride_b, long long stride_n, long long stride_h) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  const int b = blockIdx.y / heads;
  const int h = blockIdx.y % heads;
  if (row >= n) return;
  const long long base = b * stride_b + h * stride_h;
  const __nv_bfloat16* q_row = q + base + row * stride_n;
  float query[D];
  float acc[D] = {0.0f};
  for (int d = 0; d < D; ++d) query[d] = __bfloat162float(q_row[d]);
  float m = -INFINITY, l = 0.0f;
  for (int j = 0; j <= row; ++j) {
    const __nv_bfloat16* k_row = k + base + j * stride_n;
    const __nv_bfloat16* v_row = v + base + j * stride_n;
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += query[d] * __bfloat162float(k_row[d]);
    s *= rsqrtf((float)D);
    const float m_new = fmaxf(m, s);
    const float alpha = __expf(m - m_new);
    const float p = __expf(s - m_new);
    l = l * alpha + p;
    for (int d = 0; d < D; ++d) acc[d] = acc[d] * alpha + p * __bfloat162float(v_row[d]);
    m = m_new;
  }
  for (int d = 0; d < D; ++d) out[base + row * stride_n + d] = __float2bfloat16(acc[d] / l);
}
