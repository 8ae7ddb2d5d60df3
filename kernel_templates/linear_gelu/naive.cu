// A linear layer and GELU, one thread an element; neighbouring threads take neighbouring features, which are rows of W.
// evo:param BLOCK_M 1 2 4 8 16 32
// evo:param BLOCK_N 4 8 16 32 64
// evo:param UNROLL 1 2 4 8
// evo:constraint BLOCK_M * BLOCK_N >= 32 && BLOCK_M * BLOCK_N <= 1024
// evo:launch linear_gelu_naive(X, W, bias, Y, M, N, K) grid(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)) block(BLOCK_N, BLOCK_M)

// Rows and columns of a block.
#ifndef BLOCK_M
#define BLOCK_M 16
#endif

#ifndef BLOCK_N
#define BLOCK_N 16
#endif

// Products that an iteration adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__device__ float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void linear_gelu_naive(const float* X, const float* W, const float* bias, float* Y, int rows, int columns, int depth) {
  const int column = blockIdx.x * BLOCK_N + threadIdx.x;
  const int row = blockIdx.y * BLOCK_M + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float* x = X + (long long)row * depth;
  const float* w = W + (long long)column * depth;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int k = 0; k < depth; ++k) {
    sum += x[k] * w[k];
  }
  Y[(long long)row * columns + column] = Gelu(sum + bias[column]);
}
