// Group norm, one thread a group of an image: the mean, the variance, the normalised values.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch group_norm_naive(X, gamma, beta, Y, eps, N * GROUPS, GROUPS, PER_GROUP, H * W) \
//   grid(ceil_div(N * GROUPS, BLOCK)) block(BLOCK)

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

__global__ void group_norm_naive(const float* X, const float* gamma, const float* beta, float* Y, float eps, int count,
                                 int groups, int channels, int pixels) {
  const int group = blockIdx.x * BLOCK + threadIdx.x;
  if (group >= count) return;
  const int size = channels * pixels;
  const float* x = X + (long long)group * size;
  float* y = Y + (long long)group * size;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = 0; i < size; ++i) {
    sum += x[i];
  }
  const float mean = sum / size;
  float squares = 0.0f;
#pragma unroll kUnroll
  for (int i = 0; i < size; ++i) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  const float deviation = sqrtf(squares / size + eps);
  for (int k = 0; k < channels; ++k) {
    const int c = group % groups * channels + k;
#pragma unroll kUnroll
    for (int i = k * pixels; i < (k + 1) * pixels; ++i) {
      y[i] = (x[i] - mean) / deviation * gamma[c] + beta[c];
    }
  }
}
