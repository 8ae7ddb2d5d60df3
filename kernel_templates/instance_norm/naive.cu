// Instance norm, one thread a plane: the mean, the variance, the normalised values.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch instance_norm_naive(X, gamma, beta, Y, eps, N * C, C, H * W) grid(ceil_div(N * C, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 32
#endif

// Elements that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void instance_norm_naive(const float* X, const float* gamma, const float* beta, float* Y, float eps, int planes,
                                    int channels, int pixels) {
  const int plane = blockIdx.x * BLOCK + threadIdx.x;
  if (plane >= planes) return;
  const int c = plane % channels;
  const float* x = X + (long long)plane * pixels;
  float* y = Y + (long long)plane * pixels;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = 0; i < pixels; ++i) {
    sum += x[i];
  }
  const float mean = sum / pixels;
  float squares = 0.0f;
#pragma unroll kUnroll
  for (int i = 0; i < pixels; ++i) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  const float deviation = sqrtf(squares / pixels + eps);
#pragma unroll kUnroll
  for (int i = 0; i < pixels; ++i) {
    y[i] = (x[i] - mean) / deviation * gamma[c] + beta[c];
  }
}
