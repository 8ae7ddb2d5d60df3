// A bias and GELU in its tanh form, one thread an element.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch bias_gelu_naive(X, bias, Y, ROWS, COLS) grid(ceil_div(ROWS * COLS, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__device__ float Gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void bias_gelu_naive(const float* X, const float* bias, float* Y, int rows, int columns) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long element = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= (long long)rows * columns) return;
    Y[element] = Gelu(X[element] + bias[element % columns]);
  }
}
