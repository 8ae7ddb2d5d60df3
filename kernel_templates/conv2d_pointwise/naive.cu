// Pointwise convolution, one thread an element; neighbouring threads take neighbouring pixels of an image.
// evo:param BLOCK 64 128 256 512
// evo:param UNROLL 1 2 4 8
// evo:launch conv2d_pointwise_naive(X, F, Y, C, K, H * W) grid(N * K, ceil_div(H * W, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Channels that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void conv2d_pointwise_naive(const float* X, const float* F, float* Y, int channels, int filters, int pixels) {
  const int image = blockIdx.x / filters;
  const int filter = blockIdx.x % filters;
  const int pixel = blockIdx.y * BLOCK + threadIdx.x;
  if (pixel >= pixels) return;
  const float* x = X + (long long)image * channels * pixels + pixel;
  const float* f = F + (long long)filter * channels;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < channels; ++c) {
    sum += x[(long long)c * pixels] * f[c];
  }
  Y[(long long)blockIdx.x * pixels + pixel] = sum;
}
