// The divergence of probabilities from others, one thread a row.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch kl_divergence_naive(P, log_Q, K, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 64
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void kl_divergence_naive(const float* P, const float* log_Q, float* K, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* p = P + (long long)row * columns;
  const float* log_q = log_Q + (long long)row * columns;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    if (p[c] > 0.0f) sum += p[c] * (logf(p[c]) - log_q[c]);
  }
  K[row] = sum;
}
