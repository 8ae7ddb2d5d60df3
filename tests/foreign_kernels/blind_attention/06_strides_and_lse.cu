// An extension of a framework: strides as arguments, a thread a query, and the logarithm of each sum of exponentials for the backward pass.
// buffers: query f32 in [B, LQ, H, 32], key f32 in [B, LK, H, 32], value f32 in [B, LK, H, 32], output f32 out [B, LQ, H, 32], logsumexp f32 out [B, H, LQ]
// sizes: B=2 LQ=19 LK=37 H=2; B=1 LQ=64 LK=16 H=1; B=1 LQ=3 LK=70 H=3
#include <cstdint>

template <typename scalar_t>
struct TensorView {
  scalar_t* data;
  int64_t stride_b, stride_l, stride_h;
  __device__ scalar_t* row(int b, int l, int h) const { return data + b * stride_b + l * stride_l + h * stride_h; }
};

// evo:launch attention_forward<float, 32>({query, i64(LQ * H * 32), i64(H * 32), i64(32)}, {key, i64(LK * H * 32), i64(H * 32), i64(32)}, \
//   {value, i64(LK * H * 32), i64(H * 32), i64(32)}, {output, i64(LQ * H * 32), i64(H * 32), i64(32)}, logsumexp, B, H, LQ, LK, \
//   f32(0.17677669529)) grid(ceil_div(LQ, 64), B * H) block(64)
template <typename scalar_t, int D>
__global__ void attention_forward(TensorView<const scalar_t> query, TensorView<const scalar_t> key,
                                  TensorView<const scalar_t> value, TensorView<scalar_t> output, float* logsumexp, int batch,
                                  int heads, int len_q, int len_k, float softmax_scale) {
  const int qi = blockIdx.x * blockDim.x + threadIdx.x;
  const int b = blockIdx.y / heads;
  const int h = blockIdx.y % heads;
  if (b >= batch || qi >= len_q) {
    return;
  }

  scalar_t q_reg[D];
  const scalar_t* q_ptr = query.row(b, qi, h);
#pragma unroll
  for (int d = 0; d < D; ++d) q_reg[d] = q_ptr[d] * softmax_scale;

  float o_reg[D];
  for (int d = 0; d < D; ++d) o_reg[d] = 0.0f;
  float running_max = -INFINITY;
  float running_sum = 0.0f;

  for (int ki = 0; ki < len_k; ++ki) {
    const scalar_t* k_ptr = key.row(b, ki, h);
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += q_reg[d] * k_ptr[d];

    if (score > running_max) {
      const float alpha = expf(running_max - score);
      running_sum *= alpha;
      for (int d = 0; d < D; ++d) o_reg[d] *= alpha;
      running_max = score;
    }
    const float p = expf(score - running_max);
    running_sum += p;
    const scalar_t* v_ptr = value.row(b, ki, h);
    for (int d = 0; d < D; ++d) o_reg[d] += p * v_ptr[d];
  }

  scalar_t* o_ptr = output.row(b, qi, h);
  for (int d = 0; d < D; ++d) o_ptr[d] = o_reg[d] / running_sum;
  logsumexp[(b * heads + h) * len_q + qi] = running_max + logf(running_sum);
}
