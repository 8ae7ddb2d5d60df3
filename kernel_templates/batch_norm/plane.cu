// Batch norm of inference: a block has a part of one plane, and each thread computes the plane's factor once. Where planes are
// multiples of four elements, a thread reads and writes four at a time.
// evo:param BLOCK 32 64 128 256 512
// evo:param ITEMS 1 2 4 8
// evo:param UNROLL 1 2 4
// evo:launch batch_norm_plane(X, mean, variance, gamma, beta, Y, eps, C, H * W, \
//   ceil_div(H * W, BLOCK * ITEMS * (H * W % 4 == 0 ? 4 : 1))) \
//   grid(N * C * ceil_div(H * W, BLOCK * ITEMS * (H * W % 4 == 0 ? 4 : 1))) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Elements, or fours of them, that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 4
#endif

// Those that an iteration processes.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void __launch_bounds__(BLOCK) batch_norm_plane(const float* __restrict__ X, const float* __restrict__ mean,
                                                          const float* __restrict__ variance, const float* __restrict__ gamma,
                                                          const float* __restrict__ beta, float* __restrict__ Y, float eps,
                                                          int channels, int pixels, int blocks_of_plane) {
  const int plane = blockIdx.x / blocks_of_plane;
  const int first = blockIdx.x % blocks_of_plane * BLOCK * ITEMS + threadIdx.x;
  const int c = plane % channels;
  const float* x = X + (long long)plane * pixels;
  float* y = Y + (long long)plane * pixels;
  const float m = mean[c];
  const float b = beta[c];
  const float factor = gamma[c] / sqrtf(variance[c] + eps);
  if (pixels % 4 == 0) {
#pragma unroll kUnroll
    for (int k = 0; k < ITEMS; ++k) {
      const int i = first + k * BLOCK;
      if (i < pixels / 4) {
        const float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(y)[i] = make_float4((v.x - m) * factor + b, (v.y - m) * factor + b, (v.z - m) * factor + b,
                                                      (v.w - m) * factor + b);
      }
    }
  } else {
#pragma unroll kUnroll
    for (int k = 0; k < ITEMS; ++k) {
      const int i = first + k * BLOCK;
      if (i < pixels) y[i] = (x[i] - m) * factor + b;
    }
  }
}
