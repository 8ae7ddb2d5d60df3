// SwiGLU, one thread an element.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch swiglu_naive(X, Y, ROWS, COLS) grid(ceil_div(ROWS * COLS, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void swiglu_naive(const float* X, float* Y, int rows, int columns) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long element = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= (long long)rows * columns) return;
    const long long row = element / columns;
    const int column = element % columns;
    const float gate = X[row * 2 * columns + column];
    const float value = X[row * 2 * columns + columns + column];
    Y[element] = gate / (1.0f + expf(-gate)) * value;
  }
}
