// Depthwise filter with its size as a template argument, same padding, an index type for large tensors.
// buffers: X f32 in [N, C, H, W], F f32 in [C, 5, 5], Y f32 out [N, C, H, W]
// sizes: N=2 C=4 H=9 W=14; N=1 C=7 H=6 W=33; N=1 C=1 H=3 W=2
#include <cstdint>

template <int kSize, typename scalar_t, typename index_t>
__global__ void conv_depthwise2d_forward(const scalar_t* __restrict__ input, scalar_t* __restrict__ output,
                                         const scalar_t* __restrict__ weight, index_t total, int C, int H, int W) {
  index_t linear = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (linear >= total) return;
  const int w_out = linear % W;
  index_t rest = linear / W;
  const int h_out = rest % H;
  rest /= H;
  const int ch = rest % C;
  const index_t plane = rest;
  constexpr int kPad = kSize / 2;

  scalar_t sum = scalar_t(0);
  const scalar_t* w_ptr = weight + ch * kSize * kSize;
#pragma unroll
  for (int kh = 0; kh < kSize; ++kh) {
#pragma unroll
    for (int kw = 0; kw < kSize; ++kw) {
      const int h_in = h_out - kPad + kh;
      const int w_in = w_out - kPad + kw;
      if ((h_in >= 0) && (h_in < H) && (w_in >= 0) && (w_in < W)) {
        const index_t offset = (plane * H + h_in) * W + w_in;
        sum += __ldg(&input[offset]) * __ldg(w_ptr);
      }
      ++w_ptr;
    }
  }
  output[linear] = sum;
}
// evo:launch conv_depthwise2d_forward<5, float, int64_t>(X, Y, F, i64(N * C * H * W), C, H, W) grid(ceil_div(N * C * H * W, 128)) block(128)
