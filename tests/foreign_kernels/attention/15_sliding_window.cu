// Each query sees itself and the WINDOW - 1 keys before it.
// buffers: Q bf16 in [B, H, S, 64], K bf16 in [B, H, S, 64], V bf16 in [B, H, S, 64], O bf16 out [B, H, S, 64]
// sizes: B=1 H=2 S=45; B=2 H=1 S=7
#include <cuda_bf16.h>

template <int HEAD_DIM, int WINDOW>
__global__ void sliding_window_attention(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V,
                                         __nv_bfloat16* O, int S, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= S) return;
  const __nv_bfloat16* Qi = Q + ((size_t)blockIdx.y * S + i) * HEAD_DIM;
  const __nv_bfloat16* Kh = K + (size_t)blockIdx.y * S * HEAD_DIM;
  const __nv_bfloat16* Vh = V + (size_t)blockIdx.y * S * HEAD_DIM;
  const int first = max(0, i - WINDOW + 1);
  float m = -INFINITY, l = 0.0f;
  float acc[HEAD_DIM] = {0.0f};
  for (int j = first; j <= i; ++j) {
    float s = 0.0f;
    for (int d = 0; d < HEAD_DIM; ++d) s += __bfloat162float(Qi[d]) * __bfloat162float(Kh[(size_t)j * HEAD_DIM + d]);
    s *= scale;
    const float m_old = m;
    m = fmaxf(m, s);
    const float c = expf(m_old - m);
    const float p = expf(s - m);
    l = l * c + p;
    for (int d = 0; d < HEAD_DIM; ++d) acc[d] = acc[d] * c + p * __bfloat162float(Vh[(size_t)j * HEAD_DIM + d]);
  }
  for (int d = 0; d < HEAD_DIM; ++d) O[((size_t)blockIdx.y * S + i) * HEAD_DIM + d] = __float2bfloat16(acc[d] / l);
}

// evo:launch sliding_window_attention<64, 16>(Q, K, V, O, S, f32(0.125)) grid(ceil_div(S, 64), B * H) block(64)
