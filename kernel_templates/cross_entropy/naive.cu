// Cross entropy, one thread a row: the largest logit, the sum, the loss.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch cross_entropy_naive(X, targets, L, ROWS, CLASSES) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 64
#endif

// Classes that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void cross_entropy_naive(const float* X, const int* targets, float* L, int rows, int classes) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * classes;
  float largest = x[0];
#pragma unroll kUnroll
  for (int c = 1; c < classes; ++c) {
    largest = fmaxf(largest, x[c]);
  }
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < classes; ++c) {
    sum += expf(x[c] - largest);
  }
  L[row] = logf(sum) - (x[targets[row]] - largest);
}
