// Softmax, one warp a row: lanes take neighbouring columns and are combined by shuffles.
// The sum is online, so X is read twice, not three times.
// evo:param WARPS 1 2 4 8 16 32
// evo:param UNROLL 1 2 4 8
// evo:launch softmax_warp(X, Y, ROWS, COLS) grid(ceil_div(ROWS, WARPS)) block(32 * WARPS)

// Rows of a block.
#ifndef WARPS
#define WARPS 4
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;
// Less than every input, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

__global__ void softmax_warp(const float* __restrict__ X, float* __restrict__ Y, int rows, int columns) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS + threadIdx.x / 32;
  if (row >= rows) return;   // the whole warp at once
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;

  // A lane without a column keeps kLowest and a sum of zero.
  float largest = kLowest;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = lane; c < columns; c += 32) {
    const float next = fmaxf(largest, x[c]);
    sum = sum * expf(largest - next) + expf(x[c] - next);
    largest = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, largest, offset);
    const float other_sum = __shfl_xor_sync(kAllLanes, sum, offset);
    const float next = fmaxf(largest, other);
    sum = sum * expf(largest - next) + other_sum * expf(other - next);
    largest = next;
  }
#pragma unroll kUnroll
  for (int c = lane; c < columns; c += 32) {
    y[c] = expf(x[c] - largest) / sum;
  }
}
