// Cross attention: T queries over S keys of an encoder, of which each sequence has its own number; bfloat16, a warp a query.
// buffers: q bf16 in [B, T, H, 64], k bf16 in [B, S, H, 64], v bf16 in [B, S, H, 64], src_lengths i32<20 in [B], out bf16 out [B, T, H, 64]
// sizes: B=2 T=13 S=21 H=2; B=1 T=4 S=40 H=1; B=3 T=33 S=20 H=1
#include <cuda_bf16.h>

constexpr int WARP_SIZE = 32;

template <int HEAD_DIM>
struct RowFragment {
  static constexpr int kPerLane = HEAD_DIM / WARP_SIZE;
  float x[kPerLane];

  __device__ void load(const __nv_bfloat16* row, int lane) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) x[i] = __bfloat162float(row[lane * kPerLane + i]);
  }
  __device__ float dot(const RowFragment& other) const {
    float s = 0.f;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) s += x[i] * other.x[i];
#pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1) s += __shfl_xor_sync(0xffffffffu, s, mask);
    return s;
  }
};

// evo:launch cross_attention<64>(q, k, v, src_lengths, out, B, T, S, H, f32(0.125)) grid(ceil_div(B * H * T, 4)) block(128)
template <int HEAD_DIM>
__global__ void cross_attention(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                                const __nv_bfloat16* __restrict__ v, const int* __restrict__ src_lengths,
                                __nv_bfloat16* __restrict__ out, int batch, int tgt_len, int src_len, int heads, float scale) {
  const int lane = threadIdx.x % WARP_SIZE;
  const int global_warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  if (global_warp >= batch * tgt_len * heads) return;
  const int head = global_warp % heads;
  const int t = (global_warp / heads) % tgt_len;
  const int b = global_warp / (heads * tgt_len);
  const int valid = src_lengths[b] + 1;
  const int row_stride = heads * HEAD_DIM;

  RowFragment<HEAD_DIM> qf, kf, vf;
  qf.load(q + (b * tgt_len + t) * row_stride + head * HEAD_DIM, lane);
  const __nv_bfloat16* k_base = k + b * src_len * row_stride + head * HEAD_DIM;
  const __nv_bfloat16* v_base = v + b * src_len * row_stride + head * HEAD_DIM;

  float m = -1e30f, l = 0.f;
  float acc[RowFragment<HEAD_DIM>::kPerLane] = {};
  for (int s = 0; s < valid; ++s) {
    kf.load(k_base + s * row_stride, lane);
    const float score = qf.dot(kf) * scale;
    const float m_new = fmaxf(m, score);
    const float correction = __expf(m - m_new);
    const float p = __expf(score - m_new);
    l = l * correction + p;
    vf.load(v_base + s * row_stride, lane);
#pragma unroll
    for (int i = 0; i < RowFragment<HEAD_DIM>::kPerLane; ++i) acc[i] = acc[i] * correction + p * vf.x[i];
    m = m_new;
  }
  __nv_bfloat16* o = out + (b * tgt_len + t) * row_stride + head * HEAD_DIM;
#pragma unroll
  for (int i = 0; i < RowFragment<HEAD_DIM>::kPerLane; ++i)
    o[lane * RowFragment<HEAD_DIM>::kPerLane + i] = __float2bfloat16(acc[i] / l);
}
